import Foundation
import NetworkLayer

/// Prints a response as it arrives: byte for byte, or on a terminal with control characters made visible.
struct ResponsePrinter: Sendable {
    var writer = OutputWriter.standardOutput
    var isTerminal = Descriptor.standardOutput.isTerminal

    func print(head: [UInt8], body: some AsyncSequence<Data, any Error>) async throws {
        guard isTerminal else {
            try await write(head)
            for try await chunk in body { try await writer.write(chunk) }
            return
        }
        var filter = TerminalFilter()
        try await write(filter.visible(head.filter { $0 != UInt8(ascii: "\r") }))
        do {
            for try await chunk in body { try await write(filter.visible(chunk)) }
        } catch {
            // The bytes before the failure are shown to the last one.
            try await write(filter.end())
            throw error
        }
        try await write(filter.end())
    }

    private func write(_ bytes: [UInt8]) async throws {
        if !bytes.isEmpty { try await writer.write(bytes) }
    }
}

extension NetworkResponse {
    /// The head in the format of HTTP/1.1, with the protocol version and the reason phrase if they are known. The
    /// former may be known only when the body has ended.
    var headText: [UInt8] {
        let version = metrics.httpVersion.map { "/" + $0 } ?? ""
        let reason = head.status.reasonPhrase
        var text = "HTTP\(version) \(head.status.code)\(reason.isEmpty ? "" : " " + reason)\r\n"
        for field in head.headerFields { text += "\(field.name.rawName): \(field.value)\r\n" }
        return Array((text + "\r\n").utf8)
    }
}

/// The `--max-body` limit: ends a larger body, whether it is read whole, in chunks, as lines or as events.
///
/// It wraps the whole call, so the bodies of redirects and failed attempts don't count.
struct BodyLimit: Interceptor {
    /// The most bytes of one response's body, after decompression.
    let bytes: Int
    /// The name of the transport, for error messages.
    let transport: String

    func intercept(_ request: TransportRequest, in call: Call, next: Next) async throws -> TransportResponse {
        var response = try await next(request)
        let limit = bytes
        response.body = TransportResponse.Body(
            source: LimitedBody(response, limit: limit) { [transport] in
                NetworkError.bodyTooLarge(limit: limit)
                    .during(request, transport: transport, elapsed: call.elapsed)
            })
        return response
    }
}

/// A body that returns the allowed number of bytes, and fails if there are more.
private final class LimitedBody: TransportResponse.BodySource {
    private struct State {
        /// The wrapped response; `nil` after the limit, because releasing it ends its exchange.
        var response: TransportResponse?
        var left: Int
        var metrics = TransportMetrics(total: .zero)
        var isFailing = false

        /// Returns as much of a chunk as the limit allows.
        mutating func take(_ chunk: Data) -> Data {
            guard chunk.count > left else {
                left -= chunk.count
                return chunk
            }
            if let response { metrics = response.metrics }
            (response, isFailing) = (nil, true)
            return chunk.prefix(left)
        }
    }

    private let state: Guarded<State>
    private let tooLarge: @Sendable () -> NetworkError

    init(_ response: TransportResponse, limit: Int, tooLarge: @escaping @Sendable () -> NetworkError) {
        state = Guarded(State(response: response, left: limit))
        self.tooLarge = tooLarge
    }

    func next() async throws -> Data? {
        if let response = state.withLock(\.response) {
            var chunks = response.body.makeAsyncIterator()
            guard let chunk = try await chunks.next() else { return nil }
            let allowed = state.withLock { $0.take(chunk) }
            if !allowed.isEmpty { return allowed }
        }
        let fails = state.withLock { state in
            defer { state.isFailing = false }
            return state.isFailing
        }
        if fails { throw tooLarge() }
        return nil
    }

    func collect(upTo limit: Int?) async throws -> Data {
        let (response, left) = state.withLock { ($0.response, $0.left) }
        return try await response?.body.collect(upTo: min(limit ?? left, left)) ?? Data()
    }

    var metrics: TransportMetrics { state.withLock { $0.response?.metrics ?? $0.metrics } }
    var trailers: HTTPFields? { state.withLock(\.response)?.body.trailers }
}

extension NetworkError {
    /// The error for a body larger than its limit.
    static func bodyTooLarge(limit: Int) -> NetworkError {
        NetworkError(.bodyTooLarge, "the body is larger than the limit of \(limit) bytes after decompression")
    }
}
