#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

import HTTPTypes
public import Logging

/// The pipeline over a transport: encode, send, validate, decode. It is a ``NetworkDispatcher`` too.
///
/// ```swift
/// let client = NetworkClient(transport: CurlNetworkDispatcher.instance)
/// let response = try await client.response(to: GetUsers())
/// print(response.status, response.headerFields, response.value)
/// ```
public struct NetworkClient: NetworkDispatcher {
    /// Who carries the exchanges.
    public let transport: any HTTPTransport
    /// Time, size and protocol of each exchange.
    public var options: TransportOptions
    /// Where each exchange is noted, at debug level: method, URL without its query, status, time. `nil` for nowhere.
    public var logger: Logger?

    /// A pipeline over a transport.
    public init(transport: any HTTPTransport, options: TransportOptions = TransportOptions(), logger: Logger? = nil) {
        self.transport = transport
        self.options = options
        self.logger = logger
    }

    /// The typed value of a request, with status and header fields.
    /// - Throws: ``NetworkError``: ``NetworkError/Code/unacceptableStatus`` when the status is not 2xx, with the whole
    ///   answer in ``NetworkError/response``; ``NetworkError/Code/decodingFailed`` when the body does not fit the type;
    ///   the transport's errors.
    public func response<Request: RequestType>(
        to request: Request
    ) async throws -> sending Response<Request.ResponseType> {
        try await response(to: request.data, as: Request.ResponseType.self)
    }

    /// The value of any decodable type, with status and header fields.
    /// - Throws: ``NetworkError`` as above.
    public func response<Value: Decodable & SendableMetatype>(
        to request: RequestData,
        as type: Value.Type
    ) async throws -> sending Response<Value> {
        let answer = try await response(to: request)
        do {
            let value = try ResponseDecoding.decode(type, from: answer.value)
            return Response(value: value, head: answer.head, metrics: answer.metrics)
        } catch {
            throw error.refusing(answer)
        }
    }

    /// The bytes of a 2xx response, with status and header fields.
    /// - Throws: ``NetworkError`` as above, but for decoding.
    public func response(to request: RequestData) async throws -> Response<Data> {
        let outgoing = try request.transportRequest(options: options)
        let incoming = try await sendLogged(outgoing)
        let body = try await incoming.body.collect(upTo: options.maximumBodyBytes)
        let answer = Response(value: body, head: incoming.head, metrics: incoming.metrics)
        guard answer.status.kind == .successful else {
            let error = NetworkError(
                .unacceptableStatus,
                "the server answered \(answer.status.code), and 2xx was expected",
                phase: .decoding
            )
            throw error.during(outgoing, transport: transport.name, elapsed: incoming.metrics.total).refusing(answer)
        }
        return answer
    }

    private func sendLogged(_ request: TransportRequest) async throws -> TransportResponse {
        do {
            let response = try await transport.send(request)
            logger?.debug(
                "\(request.method.rawValue) \(request.url) over \(transport.name): \(response.head.status.code)",
                metadata: ["elapsed": "\(response.metrics.total.shortText)"]
            )
            return response
        } catch {
            logger?.debug("\(request.method.rawValue) \(request.url) failed: \(error)")
            throw error
        }
    }

    // MARK: NetworkDispatcher

    /// Carries a request; `onSuccess` gets the body of a 2xx response. The closures are called on no particular thread.
    public func dispatch(
        request: RequestData,
        onSuccess: @escaping @Sendable (Data) -> Void,
        onError: @escaping @Sendable (any Error) -> Void
    ) {
        Task {
            do {
                onSuccess(try await data(for: request))
            } catch {
                onError(error)
            }
        }
    }

    /// The body of a 2xx response.
    public func data(for request: RequestData) async throws -> Data { try await response(to: request).value }
}

extension Error {
    /// The error with the answer that was refused.
    fileprivate func refusing(_ answer: Response<Data>) -> any Error {
        guard var error = self as? NetworkError else { return self }
        error.response = .init(status: answer.status, headerFields: answer.headerFields, body: answer.value)
        return error
    }
}
