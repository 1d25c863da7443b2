import Foundation
import NetworkLayer
import Testing

/// HTTP/2 over curl to one peer, on its own connections, so that each test counts only its own.
struct HTTP2Client {
    let dispatcher = CurlNetworkDispatcher()
    let base: String
    var version = TransportOptions.HTTPVersion.http2

    init(_ base: String?) throws { self.base = try #require(base) }

    struct Answer: Sendable {
        let status: Int
        let body: Data
        let metrics: TransportMetrics
        let trailers: HTTPFields?

        var text: String { String(decoding: body, as: UTF8.self) }
    }

    /// Sends a request and returns when the head has arrived.
    func start(_ path: String, method: HTTPRequest.Method = .get, body: TransportRequest.Body? = nil) async throws
        -> TransportResponse
    {
        var options = TransportOptions()
        options.totalTimeout = .seconds(30)
        options.trustPeers()
        options.httpVersion = version
        var request = TransportRequest(method: method, url: try RequestURL(base + path), options: options)
        request.body = body
        return try await dispatcher.send(request)
    }

    /// Sends a request and reads the body to its end.
    func send(_ path: String, method: HTTPRequest.Method = .get, body: Data? = nil) async throws -> Answer {
        let response = try await start(path, method: method, body: body.map { .bytes($0) })
        let body = try await response.body.collect()
        return Answer(
            status: response.head.status.code,
            body: body,
            metrics: response.metrics,
            trailers: response.body.trailers
        )
    }

    /// Sends the same request many times at once.
    func send(_ path: String, times count: Int) async throws -> [Answer] {
        try await withThrowingTaskGroup(of: Answer.self) { group in
            for _ in 0..<count { group.addTask { try await send(path) } }
            return try await group.reduce(into: []) { $0.append($1) }
        }
    }
}

extension [HTTP2Client.Answer] {
    /// The local addresses of the connections that carried the exchanges.
    var connections: Set<String> { Set(compactMap(\.metrics.localAddress)) }
}
