public import Dispatch
import Foundation
public import FoundationNetworking
public import NetworkLayer

/// Fetches and decodes what a `URLRequest` asks for.
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
/// The exchange goes over the ``dispatcher``, on whichever transport that is. Of the ``session`` only the configuration
/// counts: its additional header fields and `timeoutIntervalForRequest`. It carries nothing itself.
public protocol APIClient {
    /// Whose configuration counts. `URLSession.shared` by default.
    var session: URLSession { get }
    /// Who carries the requests. The default transport unless said otherwise.
    var dispatcher: any NetworkDispatcher { get }

    /// Fetches and decodes; see the default.
    @preconcurrency
    func fetch<T: Decodable & SendableMetatype>(
        with request: URLRequest,
        decode: @escaping @Sendable (any Decodable) -> T?,
        completion: @escaping @Sendable (Result<T, APIError>) -> Void
    )
}

extension APIClient {
    /// The shared one, which changes nothing.
    public var session: URLSession { .shared }

    /// The pipeline over the default transport.
    public var dispatcher: any NetworkDispatcher { NetworkClient.standard }

    /// Sends a request, decodes the body of a 2xx answer as JSON, and calls back once, on the main queue.
    ///
    /// A program that never drains its main queue has to name another: `fetch(with:queue:decode:completion:)`.
    /// - Parameters:
    ///   - request: What to ask.
    ///   - decode: Makes the value of what was decoded, usually by a cast; `nil` is
    ///     ``APIError/jsonParsingFailure``.
    ///   - completion: Gets the value or the short form of the error.
    @preconcurrency
    public func fetch<T: Decodable & SendableMetatype>(
        with request: URLRequest,
        decode: @escaping @Sendable (any Decodable) -> T?,
        completion: @escaping @Sendable (Result<T, APIError>) -> Void
    ) {
        fetch(with: request, queue: .main, decode: decode, completion: completion)
    }

    /// The same, calling back on a queue of choice.
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

    /// A typed request as a `URLRequest`.
    /// - Throws: ``APIError/requestBuilderFailed``.
    public func buildURLRequest<T: APIRequest>(for request: T) throws -> URLRequest {
        try URLRequestBuilder(with: request.baseURL, path: request.path)
            .set(method: request.method)
            .set(headers: request.headers)
            .set(parameters: request.parameters)
            .build()
    }
}

/// An optional whose wrapped type is not known: where an optional is asked for, an empty body is `nil`.
private protocol Nullable {
    var isNull: Bool { get }
}

extension Optional: Nullable {
    fileprivate var isNull: Bool { self == nil }
}

extension URLSessionConfiguration {
    /// A request with the header fields and timeouts of this configuration, where it has none of its own.
    func applied(to data: RequestData) -> RequestData {
        var data = data
        let own = data.headers ?? [:]
        for (name, value) in httpAdditionalHeaders ?? [:] {
            if let name = name as? String, let value = value as? String { data.replaceHeaders([name: value]) }
        }
        data.replaceHeaders(own)
        if data.idleTimeout == nil { data.setIdleTimeout(timeoutIntervalForRequest) }
        return data
    }
}
