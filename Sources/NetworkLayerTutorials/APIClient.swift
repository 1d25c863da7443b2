public import Dispatch
import Foundation
public import FoundationNetworking
public import NetworkLayer

/// A type that sends a `URLRequest` and decodes the response.
///
/// ```swift
/// final class MovieClient: APIClient {
///     let session = URLSession(configuration: .default)
///
///     func getFeed(
///         from feed: MovieFeed,
///         completion: @escaping @Sendable (Result<MovieFeedResult?, APIError>) -> Void
///     ) {
///         fetch(with: feed.request, decode: { $0 as? MovieFeedResult }, completion: completion)
///     }
/// }
/// ```
///
/// The exchange goes through the ``dispatcher``, over whichever transport it has. Only the configuration of the
/// ``session`` matters: its additional header fields and its `timeoutIntervalForRequest`. The session itself carries
/// nothing.
public protocol APIClient {
    /// The session whose configuration applies. Default: `URLSession.shared`.
    var session: URLSession { get }
    /// The dispatcher that carries the requests. Default: the pipeline over the default transport.
    var dispatcher: any NetworkDispatcher { get }

    /// Sends a request and decodes the response; see the default implementation.
    @preconcurrency
    func fetch<T: Decodable & SendableMetatype>(
        with request: URLRequest,
        decode: @escaping @Sendable (any Decodable) -> T?,
        completion: @escaping @Sendable (Result<T, APIError>) -> Void
    )
}

extension APIClient {
    /// The shared session, whose configuration changes nothing.
    public var session: URLSession { .shared }

    /// The pipeline over the default transport.
    public var dispatcher: any NetworkDispatcher { NetworkClient.shared }

    /// Sends a request, decodes the body of a 2xx response as JSON, and calls the closure once, on the main queue.
    ///
    /// A program that never drains its main queue must name another queue: `fetch(with:queue:decode:completion:)`.
    /// - Parameters:
    ///   - request: The request.
    ///   - decode: Converts the decoded value, usually with a cast; `nil` is ``APIError/jsonParsingFailure``.
    ///   - completion: Receives the value, or the short form of the error.
    @preconcurrency
    public func fetch<T: Decodable & SendableMetatype>(
        with request: URLRequest,
        decode: @escaping @Sendable (any Decodable) -> T?,
        completion: @escaping @Sendable (Result<T, APIError>) -> Void
    ) {
        fetch(with: request, queue: .main, decode: decode, completion: completion)
    }

    /// Sends a request, decodes the response, and calls the closure once, on the given queue.
    @preconcurrency
    public func fetch<T: Decodable & SendableMetatype>(
        with request: some RequestConvertible,
        queue: DispatchQueue,
        decode: @escaping @Sendable (any Decodable) -> T?,
        completion: @escaping @Sendable (Result<T, APIError>) -> Void
    ) {
        let data = session.configuration.applied(to: request.data)
        let dispatcher = dispatcher
        Task {
            let outcome: HandedOver<Result<T, APIError>>
            do {
                let value = try await dispatcher.send(data, as: .decoded(T.self)).body
                let missing: APIError = (value as? any Nullable)?.isNull == true ? .invalidData : .jsonParsingFailure
                outcome = HandedOver(decode(value).map { .success($0) } ?? .failure(missing))
            } catch {
                outcome = HandedOver(.failure(APIError(error)))
            }
            queue.async { completion(outcome.value) }
        }
    }

    /// Returns a typed request as a `URLRequest`.
    /// - Throws: ``APIError/requestBuilderFailed``.
    public func buildURLRequest<T: APIRequest>(for request: T) throws -> URLRequest {
        try URLRequestBuilder(with: request.baseURL, path: request.path)
            .set(method: request.method)
            .set(headers: request.headers)
            .set(parameters: request.parameters)
            .build()
    }
}

/// An optional whose wrapped type is not known. For an optional type, an empty body decodes to `nil`.
private protocol Nullable {
    var isNull: Bool { get }
}

extension Optional: Nullable {
    fileprivate var isNull: Bool { self == nil }
}

extension URLSessionConfiguration {
    /// Returns a request with the header fields and the timeout of this configuration, unless it has its own.
    func applied(to data: RequestData) -> RequestData {
        var data = data
        let own = data.headerFields
        for (name, value) in httpAdditionalHeaders ?? [:] {
            if let name = name as? String, let value = value as? String { data.replaceHeaderFields([name: value]) }
        }
        data.replaceHeaderFields(own)
        if data.idleTimeout == nil { data.setIdleTimeout(timeoutIntervalForRequest) }
        return data
    }
}
