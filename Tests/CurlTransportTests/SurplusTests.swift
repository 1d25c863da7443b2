import Foundation
import HTTPTypes
import NetworkCore
import NetworkTesting
import TestSupport
import Testing

@testable import CurlTransport

/// Bytes that wait on a kept connection belong to no request, and must not become the response to the next one.
@Suite("Surplus bytes on kept connections", .patience(minutes: 1))
struct SurplusTests {
    private let dispatcher = CurlNetworkDispatcher()
    private static let forged = "HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nforged"

    private static func answer(_ text: String) -> String {
        "HTTP/1.1 200 OK\r\nContent-Length: \(text.utf8.count)\r\n\r\n\(text)"
    }

    /// Responds, and sends a response that belongs to no request once the first gate is open. Then opens the second
    /// gate.
    private static func surplus(after gate: Gate, sent: Gate) -> Script {
        [.read, .send(answer("first")), .wait(until: gate), .send(forged), .open(sent), .read, .send(answer("late"))]
    }

    private func get(
        _ url: String, _ change: (inout TransportOptions) -> Void = { _ in }
    ) async throws -> (text: String, port: Int?) {
        var request = TransportRequest(url: try RequestURL(url))
        request.options.totalTimeout = .seconds(30)
        change(&request.options)
        let response = try await dispatcher.send(request)
        let text = String(decoding: try await response.body.collect(), as: UTF8.self)
        return (text, response.metrics.localAddress.flatMap { $0.split(separator: ":").last.flatMap { Int($0) } })
    }

    /// Linux may give one local port to connections with different destinations.
    @Test(arguments: [false, true])
    func `connections from one port are told apart`(isShared: Bool) async throws {
        let (gate, sent) = (Gate(), Gate())
        let server = try ScriptedServer(Self.surplus(after: gate, sent: sent), .ok("honest"))
        let other = try ScriptedServer(.ok("other"))
        defer { for server in [server, other] { server.stop() } }
        let port = try #require(try await get(server.url()).port)
        if isShared, try await !isAnswered(by: other, fromPort: port) {
            // Another program has the port at that address: repeat the whole test from another port.
            return try await `connections from one port are told apart`(isShared: true)
        }
        gate.open()
        try await sent.wait()
        #expect(try await get(server.url()).text == "honest")
    }

    /// Regression: a kept connection was replaced for bytes that waited on another one from the same port.
    @Test func `a connection is not replaced for what another one from its port holds`() async throws {
        let body = Data(count: 8 << 20)
        let busy = try ScriptedServer(.response(200, body: body))
        let server = try ScriptedServer(.ok("honest"))
        defer { for server in [server, busy] { server.stop() } }
        let port = try #require(try await get(server.url()).port)
        let download: TransportResponse
        do {
            var request = TransportRequest(url: try RequestURL(busy.url()))
            request.options.totalTimeout = .seconds(30)
            Self.leave(from: port, &request.options)
            download = try await dispatcher.send(request)
        } catch let error as NetworkError where error.code == .connectFailed {
            // Another program has the port at that address: repeat the whole test from another port.
            return try await `a connection is not replaced for what another one from its port holds`()
        }
        // The download has no reader yet, so the rest of it waits on its connection.
        for _ in 0..<50 { #expect(try await get(server.url()).port == port) }
        #expect(server.connectionCount == 1)
        #expect(try await download.body.collect() == body)
    }

    private static func leave(from port: Int, _ options: inout TransportOptions) {
        options.connection.interface = "127.0.0.2"
        options.connection.localPorts = port...port
    }

    private func isAnswered(by other: ScriptedServer, fromPort port: Int) async throws -> Bool {
        do {
            let answer = try await get(other.url()) { Self.leave(from: port, &$0) }
            return answer.text == "other" && answer.port == port
        } catch let error as NetworkError where error.code == .connectFailed {
            return false
        }
    }

    @Test func `a Unix socket is looked at`() async throws {
        let path = "/tmp/networklayer-\(UUID()).socket"
        let server = try UnixServer(path, isAbstract: false)
        defer { server.stop() }
        let unix: (inout TransportOptions) -> Void = { $0.connection.unixSocket = .path(path) }
        #expect(try await get("http://unix.test/", unix).text == "unix")
        server.sendSurplus(Self.forged)
        #expect(try await get("http://unix.test/", unix).text == "unix")
        #expect(server.connectionCount == 2)
    }
}

/// Bytes that libcurl reads together with a response and discards: the rest of them would be the next response.
@Suite("Surplus bytes in a response's own packet", .patience(minutes: 1))
struct DiscardedSurplusTests {
    private static let chunked = "Transfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\n\r\n"
    private static let challenge = #"WWW-Authenticate: Digest realm="r", nonce="n", qop="auth""#
    /// The head of a response that belongs to no request, whose body arrives with the next request.
    private static let surplus = "HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\n"
    private static let honest = "HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nhonest"

    private func get(
        _ url: String, _ method: HTTPRequest.Method = .get, over dispatcher: CurlNetworkDispatcher,
        _ change: (inout TransportOptions) -> Void = { _ in }
    ) async throws -> String {
        var request = TransportRequest(method: method, url: try RequestURL(url))
        request.options.totalTimeout = .seconds(30)
        change(&request.options)
        return String(decoding: try await dispatcher.send(request).body.collect(), as: UTF8.self)
    }

    @Test(
        arguments: [
            "HTTP/1.1 200 OK\r\n\(chunked)", "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n",
            "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi", "HTTP/1.1 204 No Content\r\n\r\n",
            "HTTP/1.1 304 Not Modified\r\nETag: \"x\"\r\n\r\n", "HTTP/1.1 417 No\r\nContent-Length: 0\r\n\r\n",
            "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\n\(chunked)",
            "HTTP/1.1 200 OK\r\nTrailer: A\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\nA: b\r\n\r\n",
        ], [HTTPRequest.Method.get, .post, .head])
    func `a connection with surplus bytes carries no other request`(response: String, method: HTTPRequest.Method)
        async throws
    {
        let chunks = ["2\r\nhi\r\n0\r\n", "A: b\r\n"]
        let response = method == .head ? chunks.reduce(response) { $0.replacing($1, with: "") } : response
        try await withServer(
            [.read, .send(response + Self.surplus), .read, .send("forged"), .stall], .ok("honest")
        ) { server in
            let dispatcher = CurlNetworkDispatcher()
            _ = try await get(server.url(), method, over: dispatcher)
            #expect(try await get(server.url(), over: dispatcher) == "honest")
            #expect(server.connectionCount == 2)
        }
    }

    @Test func `surplus bytes are not the response to the next round of Digest`() async throws {
        let refusal = "HTTP/1.1 401 No\r\n\(Self.challenge)\r\n\(Self.chunked)"
        try await withServer(
            [.read, .send(refusal + Self.surplus), .read, .send("forged"), .stall], .ok("honest")
        ) { server in
            let text = try await get(server.url(), over: CurlNetworkDispatcher()) {
                $0.authentication = .digest(user: "u", password: "p")
            }
            #expect(text == "honest")
        }
    }

    /// The connection is kept after responses without surplus bytes.
    @Test(arguments: [
        "HTTP/1.1 200 OK\r\n\(chunked)", "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n",
        "HTTP/1.1 204 No Content\r\n\r\n", "HTTP/1.1 304 Not Modified\r\n\r\n",
    ])
    func `without surplus, the connection is kept`(response: String) async throws {
        try await withServer([.read, .send(response), .read, .send(Self.honest), .stall]) { server in
            let dispatcher = CurlNetworkDispatcher()
            _ = try await get(server.url(), over: dispatcher)
            #expect(try await get(server.url(), over: dispatcher) == "honest")
            #expect(server.connectionCount == 1)
        }
    }
}
