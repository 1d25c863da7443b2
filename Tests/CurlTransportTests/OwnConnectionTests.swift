import Foundation
import NetworkCore
import NetworkTesting
import TestSupport
import Testing

@testable import CurlTransport

/// A request that requires its own connection gets one in each round of its authentication.
@Suite("Requests that require their own connection", .patience(minutes: 1))
struct OwnConnectionTests {
    private static let connected = "HTTP/1.1 200 Connected\r\n\r\n"
    private static let challenge =
        "HTTP/1.1 401 No\r\nWWW-Authenticate: Digest realm=\"r\", nonce=\"n\", qop=\"auth\"\r\n"
        + "Content-Length: 0\r\nConnection: close\r\n\r\n"
    private static func response(_ text: String) -> String {
        "HTTP/1.1 200 OK\r\nContent-Length: \(text.utf8.count)\r\n\r\n\(text)"
    }

    private let dispatcher = CurlNetworkDispatcher()

    private func get(
        _ url: String, body: Data? = nil, _ change: (inout TransportOptions) -> Void = { _ in }
    ) async throws -> String {
        var request = TransportRequest(method: body == nil ? .get : .post, url: try RequestURL(url))
        request.body = body.map { .bytes($0) }
        request.options.totalTimeout = .seconds(30)
        change(&request.options)
        return String(decoding: try await dispatcher.send(request).body.collect(), as: UTF8.self)
    }

    private func throughTunnel(of user: String, at proxy: String, isDigest: Bool = false) async throws -> String {
        try await get("http://web.test/") {
            var server = TransportOptions.Proxy.Server(proxy, user: user, password: "pw")
            server.tunnel = true
            $0.proxy = .explicit(server)
            if isDigest { $0.authentication = .digest(user: "u", password: "p") }
        }
    }

    @Test func `a second round takes no tunnel of other credentials`() async throws {
        func tunnel(_ steps: Script.Step...) -> Script {
            Script([.read, .send(Self.connected), .read] + steps)
        }
        let server = try ScriptedServer(
            tunnel(.send(Self.response("to alice")), .read, .send(Self.response("by alice's tunnel")), .stall),
            tunnel(.send(Self.challenge), .close),
            tunnel(.send(Self.response("to bob")), .stall))
        defer { server.stop() }
        #expect(try await throughTunnel(of: "alice", at: server.baseURL) == "to alice")
        #expect(try await throughTunnel(of: "bob", at: server.baseURL, isDigest: true) == "to bob")
        #expect(server.requests.filter { $0.values(of: "Authorization").first?.contains("Digest") == true }.count <= 1)
    }

    /// A POST on a kept connection that ends is not repeated, with or without credentials.
    @Test func `each round of a POST with Digest goes out once, or not at all`() async throws {
        let server = try ScriptedServer(
            [.read, .send(Self.response("kept")), .read, .close], [.read, .send(Self.challenge), .close],
            [.read, .send(Self.response("paid")), .stall])
        defer { server.stop() }
        #expect(try await get(server.url()) == "kept")
        do {
            let text = try await get(server.url("/pay"), body: Data("amount=1".utf8)) {
                $0.authentication = .digest(user: "u", password: "p")
            }
            #expect(text == "paid")
        } catch let error as NetworkError {
            #expect([.unsupported, .connectionLost].contains(error.code), "\(error)")
        }
        // Below 7.80 the POST takes a new connection, so the server may challenge it: each round goes out once.
        for isAuthenticated in [false, true] {
            let round = server.requests.filter { !$0.values(of: "Authorization").isEmpty == isAuthenticated }
            #expect(round.count(where: { !$0.body.isEmpty }) <= 1)
        }
    }

    /// The request tries each kept connection with waiting bytes once and leaves it behind.
    @Test
    func `stale connections do not fail a request with Digest`() async throws {
        let (all, stale) = (Gate(), Gate())
        let sent = (0..<3).map { _ in Gate() }
        let late = "HTTP/1.1 408 Late\r\nContent-Length: 0\r\n\r\n"
        let kept = sent.map { gate -> Script in
            [
                .read, .wait(until: all), .send(Self.response("kept")), .wait(until: stale), .send(late), .open(gate),
                .stall,
            ]
        }
        let challenged: Script = [.read, .send(Self.challenge), .close]
        let server = try ScriptedServer(scripts: kept + [challenged, .ok("in")])
        defer { server.stop() }
        let first = (0..<3).map { _ in Task { try await get(server.url()) } }
        try await server.wait { $0.requests.count == 3 }
        all.open()
        for task in first { #expect(try await task.value == "kept") }
        stale.open()
        for gate in sent { try await gate.wait() }
        let text = try await get(server.url()) { $0.authentication = .digest(user: "u", password: "p") }
        #expect(text == "in")
    }

    /// The times of the lost connection do not apply to the next one.
    @Test func `the connect timeout holds for the connection of a repeat`() async throws {
        let server = try ScriptedServer(
            [.read, .send(Self.connected), .read, .send(Self.response("kept")), .read, .close], [.read, .stall])
        defer { server.stop() }
        #expect(try await throughTunnel(of: "alice", at: server.baseURL) == "kept")
        let error = await #expect(throws: NetworkError.self) {
            _ = try await get("http://web.test/") {
                var proxy = TransportOptions.Proxy.Server(server.baseURL, user: "alice", password: "pw")
                proxy.tunnel = true
                $0.proxy = .explicit(proxy)
                $0.connectTimeout = .milliseconds(300)
                $0.idleTimeout = nil
            }
        }
        #expect(error?.code == .connectTimeout, "\(error as Any)")
        #expect(error?.phase == .connecting)
    }
}
