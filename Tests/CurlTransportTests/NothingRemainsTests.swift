import Foundation
import NetworkCore
import NetworkTesting
import TestSupport
import Testing

@testable import CurlTransport

/// Checks that no state of earlier requests reaches a later one.
@Suite("No state of a request remains", .patience(minutes: 1))
struct NothingRemainsTests {
    private let dispatcher = CurlNetworkDispatcher()

    /// Regression: heap corruption with libcurl 7.84 to 8.0, whose handles keep a pointer to the last header line of
    /// the previous transfer.
    @Test(arguments: ["\tX: y", " folded"])
    func `a first field that begins with a blank touches nothing of the response before`(line: String) async throws {
        try await withServer(.ok("good", fields: [("X-Long", String(repeating: "x", count: 2_000))])) { good in
            try await withServer(.raw("HTTP/1.1 200 OK\r\n\(line)\r\n\r\n")) { bad in
                for _ in 0..<20 {
                    _ = try await Exchange(good.url(), over: dispatcher)
                    _ = try? await Exchange(bad.url(), over: dispatcher)
                }
                #expect(try await Exchange(good.url(), over: dispatcher).text == "good")
            }
        }
    }

    /// Regression: libcurl keeps the list of addresses until the transfer starts. The list was freed before that, and
    /// the handle's next transfer read it.
    @Test func `addresses of a request that never started serve no other`() async throws {
        let gate = Gate()
        let server = try ScriptedServer([.read, .wait(until: gate), .ok()])
        let plain = try ScriptedServer(.ok("plain"))
        defer { for server in [server, plain] { server.stop() } }
        let dispatcher = CurlNetworkDispatcher { $0.maximumConnections = 1 }
        let holding = Task { try await Exchange(server.url(), over: dispatcher) }
        try await server.wait { $0.requests.count == 1 }
        for _ in 0..<8 {
            await expectFailure(.totalTimeout) {
                try await Exchange("http://static.example:\(plain.port)/", over: dispatcher) {
                    $0.pin("static.example", to: "127.0.0.1", port: plain.port)
                    $0.totalTimeout = .milliseconds(1)
                }
            }
        }
        gate.open()
        _ = try await holding.value
        for _ in 0..<8 { #expect(try await Exchange(plain.url(), over: dispatcher).text == "plain") }
    }

    /// A streamed body without a length fails at an HTTP/1.0 peer after its header lines have been built, credentials
    /// among them.
    @Test func `credentials of a failed upload serve no other request`() async throws {
        let challenge =
            "HTTP/1.0 401 No\r\nWWW-Authenticate: Digest realm=\"r\", nonce=\"n\", qop=\"auth\"\r\n"
            + "Content-Length: 0\r\n\r\n"
        try await withServer(.raw(challenge)) { old in
            try await withServer(.ok("other")) { other in
                for _ in 0..<4 {
                    _ = try? await Exchange(old.url(), .put, over: dispatcher, body: .once("x")) {
                        $0.authentication = .digest(user: "alice", password: "wonderland")
                    }
                    _ = try await Exchange(other.url(), over: dispatcher)
                }
                #expect(other.requests.map { $0.values(of: "Authorization") } == [[], [], [], []])
            }
        }
    }

    // MARK: Bytes that wait on a kept connection become no response to the next request

    /// Returns the text of a response, and the local port of its connection.
    private func get(
        _ url: String, _ change: (inout TransportOptions) -> Void = { _ in }
    ) async throws -> (text: String, port: Int?) {
        let exchange = try await Exchange(url, over: dispatcher, options: change)
        return (
            exchange.text, exchange.metrics.localAddress.flatMap { $0.split(separator: ":").last }.flatMap { Int($0) }
        )
    }

    /// Regression: a second response, sent after the first was read, became the response to the next request. A server
    /// that is out of step with its requests would give one user's response to another.
    @Test func `a response without a request is not the next request's`() async throws {
        let (isRead, isForged) = (Gate(), Gate())
        try await withServer(
            [.read, .ok("own"), .wait(until: isRead), .ok("forged"), .open(isForged), .stall], .ok("own")
        ) { server in
            #expect(try await get(server.url()).text == "own")
            isRead.open()
            try await isForged.wait()
            for method in [HTTPRequest.Method.get, .post] {
                #expect(try await Exchange(server.url(), method, over: dispatcher).text == "own")
            }
            #expect(server.connectionCount == 2)
        }
    }

    /// Linux may give one local port to connections with different destinations.
    @Test func `connections from one port are told apart`() async throws {
        let (gate, sent) = (Gate(), Gate())
        let server = try ScriptedServer(
            [.read, .ok("first"), .wait(until: gate), .ok("forged"), .open(sent), .read, .ok("late")], .ok("honest"))
        let other = try ScriptedServer(.ok("other"))
        defer { for server in [server, other] { server.stop() } }
        let port = try #require(try await get(server.url()).port)
        do {
            let answer = try await get(other.url()) { Self.leave(from: port, &$0) }
            #expect(answer.text == "other" && answer.port == port)
        } catch let error as NetworkError where error.code == .connectFailed {
            // Another program has the port at that address: repeat the whole test from another port.
            return try await `connections from one port are told apart`()
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
            download = try await dispatcher.start(busy.url()) { Self.leave(from: port, &$0) }
        } catch let error as NetworkError where error.code == .connectFailed {
            // As above.
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

    @Test func `a Unix socket is looked at`() async throws {
        let path = "/tmp/networklayer-\(UUID()).socket"
        let server = try UnixServer(path, isAbstract: false)
        defer { server.stop() }
        let unix: (inout TransportOptions) -> Void = { $0.connection.unixSocket = .path(path) }
        #expect(try await get("http://unix.test/", unix).text == "unix")
        server.sendSurplus("HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nforged")
        #expect(try await get("http://unix.test/", unix).text == "unix")
        #expect(server.connectionCount == 2)
    }

    private static let chunked = "Transfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\n\r\n"

    /// Bytes that libcurl reads together with a response and discards: the rest of them would be the next response.
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
        // The body of the surplus response arrives with the next request.
        let surplus = "HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\n"
        try await withServer(
            [.read, .send(response + surplus), .read, .send("forged"), .stall], .ok("honest")
        ) { server in
            _ = try await Exchange(server.url(), method, over: dispatcher)
            #expect(try await get(server.url()).text == "honest")
            #expect(server.connectionCount == 2)
        }
    }

    @Test(arguments: [
        "HTTP/1.1 200 OK\r\n\(chunked)", "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n",
        "HTTP/1.1 204 No Content\r\n\r\n", "HTTP/1.1 304 Not Modified\r\n\r\n",
    ])
    func `without surplus, the connection is kept`(response: String) async throws {
        try await withServer([.read, .send(response), .read, .ok("honest"), .stall]) { server in
            _ = try await get(server.url())
            #expect(try await get(server.url()).text == "honest")
            #expect(server.connectionCount == 1)
        }
    }
}
