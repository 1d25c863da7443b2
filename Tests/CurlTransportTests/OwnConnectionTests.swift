import Foundation
import NetworkCore
import NetworkTesting
import TestSupport
import Testing

@testable import CurlTransport

/// A request that requires its own connection gets one in each round of its authentication.
@Suite("Requests that require their own connection", .patience(minutes: 1))
struct OwnConnectionTests {
    private static let connected = Script.Step.send("HTTP/1.1 200 Connected\r\n\r\n")
    private static let challenge = Script.Step.respond(
        401, fields: [("WWW-Authenticate", #"Digest realm="r", nonce="n", qop="auth""#), ("Connection", "close")])
    private static let digest = TransportOptions.Authentication.digest(user: "u", password: "p")

    private let dispatcher = CurlNetworkDispatcher()

    private func get(
        _ url: String, body: Data? = nil, _ change: (inout TransportOptions) -> Void = { _ in }
    ) async throws -> String {
        try await Exchange(url, over: dispatcher, body: body.map { .bytes($0) }, options: change).text
    }

    private func throughTunnel(
        of user: String, at proxy: String, _ change: (inout TransportOptions) -> Void = { _ in }
    ) async throws -> String {
        try await get("http://web.test/") {
            $0.proxy = .server(proxy, user: user, password: "pw", tunnel: true)
            change(&$0)
        }
    }

    @Test func `a second round takes no tunnel of other credentials`() async throws {
        func tunnel(_ steps: Script.Step...) -> Script { Script([.read, Self.connected, .read] + steps) }
        try await withServer(
            tunnel(.ok("to alice"), .read, .ok("by alice's tunnel"), .stall), tunnel(Self.challenge, .close),
            tunnel(.ok("to bob"), .stall)
        ) { server in
            #expect(try await throughTunnel(of: "alice", at: server.baseURL) == "to alice")
            let text = try await throughTunnel(of: "bob", at: server.baseURL) { $0.authentication = Self.digest }
            #expect(text == "to bob")
            let answers = server.requests.flatMap { $0.values(of: "Authorization") }
            #expect(answers.filter { $0.contains("Digest") }.count <= 1)
        }
    }

    /// A POST on a kept connection that ends is not repeated, with or without credentials.
    @Test func `each round of a POST with Digest goes out once, or not at all`() async throws {
        try await withServer(
            [.read, .ok("kept"), .read, .close], [.read, Self.challenge, .close], [.read, .ok("paid"), .stall]
        ) { server in
            #expect(try await get(server.url()) == "kept")
            do {
                let text = try await get(server.url("/pay"), body: Data("amount=1".utf8)) {
                    $0.authentication = Self.digest
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
    }

    /// The request tries each kept connection with waiting bytes once and leaves it behind.
    @Test func `stale connections do not fail a request with Digest`() async throws {
        let (all, stale) = (Gate(), Gate())
        let sent = (0..<3).map { _ in Gate() }
        let kept = sent.map {
            Script([
                .read, .wait(until: all), .ok("kept"), .wait(until: stale), .respond(408), .open($0), .stall,
            ])
        }
        let server = try ScriptedServer(scripts: kept + [[.read, Self.challenge, .close], .ok("in")])
        defer { server.stop() }
        async let first = atOnce(3) { _ in try await get(server.url()) }
        try await server.wait { $0.requests.count == 3 }
        all.open()
        #expect(try await first == ["kept", "kept", "kept"])
        stale.open()
        for gate in sent { try await gate.wait() }
        #expect(try await get(server.url()) { $0.authentication = Self.digest } == "in")
    }

    /// The times of the lost connection do not apply to the next one.
    @Test func `the connect timeout holds for the connection of a repeat`() async throws {
        try await withServer([.read, Self.connected, .read, .ok("kept"), .read, .close], .stalled) {
            server async throws in
            #expect(try await throughTunnel(of: "alice", at: server.baseURL) == "kept")
            await expectFailure(.connectTimeout, in: .connecting) {
                try await throughTunnel(of: "alice", at: server.baseURL) {
                    ($0.connectTimeout, $0.idleTimeout) = (.milliseconds(300), nil)
                }
            }
        }
    }
}

/// HTTP/2 connections that the peer has ended, in clear and with prior knowledge.
@Suite(
    "Dead HTTP/2 connections",
    .enabled(if: CurlNetworkDispatcher.shared.capabilities.supports(.http2), "needs HTTP/2: libcurl 8.1"),
    .patience(minutes: 1))
struct DeadHTTP2ConnectionTests {
    /// Returns a frame ([RFC 9113 §4.1](https://www.rfc-editor.org/rfc/rfc9113.html#section-4.1)) of up to 255 bytes.
    private static func frame(_ type: UInt8, flags: UInt8 = 0, stream: UInt8 = 0, _ payload: [UInt8] = []) -> Data {
        Data([0, 0, UInt8(payload.count), type, flags, 0, 0, 0, stream] + payload)
    }

    private static let settings = frame(4) + frame(4, flags: 1)
    /// `:status: 200` by its index (RFC 7541), with the end of the stream.
    private static let ok = frame(1, flags: 5, stream: 1, [0x88])
    /// At most as many bytes as the client sends before it hears anything, after the first line of its preface: the
    /// rest of that, SETTINGS, WINDOW_UPDATE, and the start of HEADERS.
    private static let firstBytes = 66

    /// Regression: libcurl 8.23 keeps a connection that was reset in the middle of a response, and a body that can't be
    /// sent again was lost on it.
    @Test func `a connection that was reset serves no other request`() async throws {
        try await withServer(
            [.readHead, .send(Self.settings), .readBody(Self.firstBytes), .reset],
            [.readHead, .send(Self.settings), .readBody(Self.firstBytes), .send(Self.ok), .stall]
        ) { server async throws in
            let dispatcher = CurlNetworkDispatcher()
            func start(_ body: TransportRequest.Body?) async throws -> TransportResponse {
                try await dispatcher.start(server.url(), body: body) { $0.httpVersion = .http2PriorKnowledge }
            }
            await expectFailure(.connectionLost) { try await start(nil) }
            #expect(try await start(.once("once")).status == .ok)
            #expect(server.connectionCount == 2)
        }
    }
}
