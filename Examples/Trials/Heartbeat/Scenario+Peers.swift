import Foundation
import CurlTransport
import NetworkCore
import NetworkTesting

/// Peers and readers without limits.
extension Scenario {
    static let peers = [
        Scenario("bodies that are not read", unread),
        Scenario("bodies as fast as they come", flood),
        Scenario("challenges with bodies without end", challenged),
        Scenario("tunnels refused with bodies without end", refused),
    ]

    private static let endless: Script = [
        .read, .send("HTTP/1.1 200 OK\r\n\r\n"), .flood(Data(repeating: 120, count: 65_536)),
    ]

    private static func unread(_ attempt: Attempt) async throws {
        let server = try ScriptedPeer.answering(endless)
        defer { server.stop() }
        let request = TransportRequest(url: try RequestURL(server.url()))
        try await attempt.withNeighbour("a neighbor") {
            var responses: [TransportResponse] = []
            for _ in 0..<64 { responses.append(try await attempt.dispatcher.send(request)) }
            try await Task.sleep(for: .seconds(attempt.isShort ? 1 : 10))
            attempt.expect(responses.allSatisfy { $0.status.code == 200 }, "a response is not a 200")
        }
    }

    /// libcurl reads the body of a challenge that it responds to, and does not report it.
    private static func challenged(_ attempt: Attempt) async throws {
        let fields = "WWW-Authenticate: Digest realm=\"a\", nonce=\"b\"\r\nTransfer-Encoding: chunked\r\n"
        let server = try ScriptedPeer.answering([
            .read, .send("HTTP/1.1 401 Unauthorized\r\n\(fields)\r\n"),
            .flood(Data(String(repeating: "1\r\nx\r\n", count: 10_000).utf8)),
        ])
        defer { server.stop() }
        var options = TransportOptions()
        options.totalTimeout = .seconds(2)
        options.authentication = .digest(user: "user", password: "password")
        let request = TransportRequest(url: try RequestURL(server.url()), options: options)
        // Each of these takes several milliseconds of one call.
        try await attempt.withNeighbour("a neighbor") { await attempt.askMany(4, request) }
    }

    /// libcurl reads the body of a proxy's refusal one byte at a time, in one call.
    private static func refused(_ attempt: Attempt) async throws {
        let proxy = try ScriptedPeer.answering([
            .read, .send("HTTP/1.1 407 No\r\nContent-Length: 1000000000000\r\n\r\n"),
            .flood(Data(repeating: 120, count: 65_536)),
        ])
        defer { proxy.stop() }
        var way = TransportOptions.Proxy.Server(proxy.baseURL)
        way.tunnel = true
        var options = TransportOptions()
        options.totalTimeout = .seconds(10)
        options.proxy = .explicit(way)
        let request = TransportRequest(url: try RequestURL("http://example.invalid/"), options: options)
        try await attempt.withNeighbour("a neighbor") { await attempt.askMany(4, request) }
    }

    private static func flood(_ attempt: Attempt) async throws {
        let server = try ScriptedPeer.answering(endless)
        defer { server.stop() }
        var options = TransportOptions()
        options.maximumBodyBytes = attempt.isShort ? 1 << 25 : 1 << 28
        let request = TransportRequest(url: try RequestURL(server.url()), options: options)
        await attempt.askMany(16, request)
    }
}
