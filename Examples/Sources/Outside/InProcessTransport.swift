import Foundation
import NetworkLayer

/// A third transport, which passes each request to a handler in the same process. Bodies stream in both directions,
/// each chunk when the other side takes it.
struct InProcessTransport: HTTPTransport {
    /// Responds to a request. The handler reads the request's body from `body`, and sends its response with `response`.
    typealias Handler =
        @Sendable (_ request: TransportRequest, _ body: Channel, _ response: Responder) async throws ->
        Void

    /// Sends the head of a response, and then the chunks of its body.
    struct Responder: Sendable {
        let begin: @Sendable (HTTPResponse) -> Void
        let body: Channel
    }

    let name = "in-process"
    let capabilities = TransportCapabilities(
        transport: "in-process", basis: "a handler of this process",
        supported: [.bodyOnGet, .streamedRequestBodies, .ipv6Literals, .backPressure, .exactResponseFields])
    let handler: Handler

    func send(_ request: TransportRequest) async throws -> TransportResponse {
        try request.check(for: capabilities)
        let outgoing = try request.wireBody()
        var wired = request
        wired.headerFields = request.wireFields
        let (sent, received) = (Channel(), Channel())
        let (heads, continuation) = AsyncStream.makeStream(of: HTTPResponse.self)
        let exchange = Task { [wired] in
            await withTaskGroup(of: Void.self) { group in
                group.addTask { await Self.feed(sent, from: outgoing) }
                group.addTask {
                    do {
                        let responder = Responder(begin: { continuation.yield($0) }, body: received)
                        try await handler(wired, sent, responder)
                        await received.finish()
                    } catch { await received.finish(throwing: error) }
                    continuation.finish()
                    // Nothing reads the rest of a body that the handler left unread.
                    await sent.abandon()
                }
            }
        }
        let body = ChannelBody(received, exchange, limit: request.options.maximumBodyBytes)
        return try await withTaskCancellationHandler {
            try await Self.within(Self.patience(of: request.options)) {
                for await head in heads {
                    return TransportResponse(head: head, body: TransportResponse.Body(source: body))
                }
                // Without a head, there is either the handler's error or no error at all.
                _ = try await received.next()
                throw NetworkError(.connectionLost, "the handler sent no response", phase: .waiting)
            }
        } onCancel: {
            exchange.cancel()
        }
    }

    private static func feed(_ channel: Channel, from body: TransportRequest.Body?) async {
        do {
            try await body?.read { try await channel.send($0) }
            await channel.finish()
        } catch { await channel.finish(throwing: error) }
    }

    /// Returns the longest wait for the head, and the error after it.
    private static func patience(of options: TransportOptions) -> (Duration, NetworkError)? {
        let total = options.totalTimeout.map { ($0, NetworkError.totalTimeout) }
        let idle = options.idleTimeout.map { ($0, NetworkError.idleTimeout) }
        return [total, idle].compactMap { $0 }.min { $0.0 < $1.0 }
    }

    private static func within(
        _ limit: (Duration, NetworkError)?, _ work: @escaping @Sendable () async throws -> TransportResponse
    ) async throws -> TransportResponse {
        try await withThrowingTaskGroup(of: TransportResponse.self) { group in
            group.addTask {
                let response = try await work()
                if Task.isCancelled { throw NetworkError.cancelled }
                return response
            }
            if let (duration, error) = limit {
                group.addTask {
                    try await Task.sleep(for: duration)
                    throw error
                }
            }
            defer { group.cancelAll() }
            do {
                guard let response = try await group.next() else { throw NetworkError.cancelled }
                return response
            } catch is CancellationError { throw NetworkError.cancelled }
        }
    }
}

/// The body of the response, as the pipeline reads it.
private final class ChannelBody: TransportResponse.BodySource {
    private let channel: Channel
    private let exchange: Task<Void, Never>
    private let limit: Int
    private let started = ContinuousClock.now

    init(_ channel: Channel, _ exchange: Task<Void, Never>, limit: Int) {
        (self.channel, self.exchange, self.limit) = (channel, exchange, limit)
    }

    // A body that is no longer referenced ends its exchange.
    deinit { exchange.cancel() }

    func next() async throws -> Data? { try await channel.next() }

    func collect(upTo limit: Int?) async throws -> Data {
        let limit = limit ?? self.limit
        var bytes = Data()
        while let piece = try await next() {
            bytes += piece
            guard bytes.count <= limit else {
                exchange.cancel()
                throw NetworkError(.bodyTooLarge, "the body is larger than \(limit) bytes", phase: .receiving)
            }
        }
        return bytes
    }

    var metrics: TransportMetrics { TransportMetrics(total: .now - started) }
    var trailers: HTTPFields? { nil }
}
