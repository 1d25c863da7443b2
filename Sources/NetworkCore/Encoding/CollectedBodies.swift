import FoundationEssentials
import Synchronization

/// Reads streamed request bodies into memory before they are sent: for a transport that lacks
/// ``TransportCapability/streamedRequestBodies``.
///
/// ```swift
/// var client = NetworkClient(transport: URLSessionNetworkDispatcher.instance)
/// client.exchangeInterceptors.append(.collectedBodies(upTo: 1_000_000))
/// ```
public struct CollectedBodies: Interceptor {
    /// The most bytes that a body may have; a longer one fails with ``NetworkError/Code/bodyTooLarge`` before it is
    /// sent.
    public var limit: Int

    /// Collects bodies up to a limit in bytes.
    public init(upTo limit: Int) { self.limit = limit }

    /// Collects the body, and goes on.
    /// - Throws: ``NetworkError/Code/bodyTooLarge``, ``NetworkError/Code/bodyLengthMismatch``,
    ///   ``NetworkError/Code/totalTimeout``, the error of the body's producer.
    public func intercept(_ request: TransportRequest, in call: Call, next: Next) async throws -> TransportResponse {
        guard case .produced(let producer)? = request.body?.content else { return try await next(request) }
        let collected = Guarded(Data())
        let deliver: @Sendable (Data) async throws -> Void = { [limit] chunk in
            let count = collected.withLock { bytes in
                bytes.append(chunk)
                return bytes.count
            }
            guard count <= limit else {
                throw NetworkError(
                    .bodyTooLarge,
                    "the request's body is larger than the \(limit) bytes that are collected in memory",
                    phase: .preparing
                )
            }
        }
        try await call.withinDeadline { try await producer.run(deliver) }
        let body = collected.withLock { $0 }
        if let length = producer.length, length != body.count {
            throw NetworkError.bodyLengthMismatch(expected: length, got: "\(body.count)")
        }
        var request = request
        request.body = .bytes(body)
        return try await next(request)
    }
}

extension Interceptor where Self == CollectedBodies {
    /// Reads streamed request bodies into memory before they are sent.
    public static func collectedBodies(upTo limit: Int) -> CollectedBodies { CollectedBodies(upTo: limit) }
}
