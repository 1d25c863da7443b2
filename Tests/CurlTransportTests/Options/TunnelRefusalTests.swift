import Foundation
import NetworkCore
import NetworkTesting
import TestSupport
import Testing

@testable import CurlTransport

/// What a proxy sends in place of a tunnel, and what comes through one.
@Suite("Responses to CONNECT", .patience(minutes: 1))
struct TunnelRefusalTests {
    private static let digest = ("Proxy-Authenticate", #"Digest realm="r", nonce="n", qop="auth""#)
    private static let challengeInChunks = Script.head(407, fields: [digest, ("Transfer-Encoding", "chunked")])
    private static let url = "http://example.invalid/"
    /// A tunnel, and the response through it.
    private static let rest: [Script.Step] = [.read, .send("HTTP/1.1 200 Connected\r\n\r\n"), .read, .ok("x")]

    /// An endless refusal of a tunnel by a proxy.
    struct EndlessRefusal: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let fields: String
        let flood: Data
        /// Whether the request has the credentials for the challenge.
        var isAnswered = false

        var isHead: Bool { fields.isEmpty }
        var head: String { "HTTP/1.1 407 No\r\n\(digest.0): \(digest.1)\r\n" + fields }

        private static let text = Data(repeating: 97, count: 65_536)

        static let all = [
            EndlessRefusal(
                testDescription: "a length, no password", fields: "Content-Length: 1000000000000\r\n\r\n", flood: text),
            EndlessRefusal(
                testDescription: "a length, Digest", fields: "Content-Length: 1000000000000\r\n\r\n", flood: text,
                isAnswered: true),
            EndlessRefusal(
                testDescription: "chunks, Digest", fields: "Transfer-Encoding: chunked\r\n\r\n",
                flood: Data("10000\r\n".utf8) + text + Data("\r\n".utf8), isAnswered: true),
            EndlessRefusal(
                testDescription: "header fields", fields: "",
                flood: Data(String(repeating: "A: b\r\n", count: 9_999).utf8)),
        ]
    }

    private static func proxy(_ server: ScriptedServer, hasCredentials: Bool) -> TransportOptions.Proxy {
        hasCredentials ? .digest(at: server.baseURL, tunnel: true) : .server(server.baseURL, tunnel: true)
    }

    /// libcurl reads a refusal of the tunnel within one call, one byte at a time, for as long as bytes arrive.
    @Test(arguments: EndlessRefusal.all)
    func `an endless refusal of the tunnel holds up nothing`(refusal: EndlessRefusal) async throws {
        let proxy = try ScriptedServer([.read, .send(refusal.head), .flood(refusal.flood)])
        let server = try ScriptedServer(.ok("x"))
        defer { for server in [proxy, server] { server.stop() } }
        let dispatcher = CurlNetworkDispatcher()
        let tunnelled = Task {
            try await Exchange(Self.url, over: dispatcher) {
                $0.proxy = Self.proxy(proxy, hasCredentials: refusal.isAnswered)
            }
        }
        try await proxy.wait { $0.requests.count >= 1 }
        // Less than the time of the request through the proxy.
        #expect(try await Exchange(server.url(), over: dispatcher) { $0.totalTimeout = .seconds(25) }.text == "x")
        let error = await #expect(throws: NetworkError.self) { try await tunnelled.value }
        // Newer libcurl versions have their own limits for heads.
        if !refusal.isHead || error?.code != .responseHeadTooLarge {
            #expect(error?.code == .proxyFailed && error?.phase == .connecting, "\(error as Any)")
            #expect(error?.message.contains("more than \(TunnelResponse.maximumBytes) bytes") == true)
        }
        // The transfer does not repeat the request after such a long refusal.
        #expect(proxy.connectionCount == 1)
    }

    @Test(arguments: ["http", "https"], [true, false])
    func `a refusal whose body in chunks has not arrived opens no tunnel`(
        scheme: String, hasCredentials: Bool
    ) async throws {
        let hasMore = Gate()
        try await withServer([.read, .send(Self.challengeInChunks), .readBody(1), .open(hasMore)]) { proxy in
            await expectFailure(.connectTimeout, in: .connecting) {
                try await Exchange("\(scheme)://example.invalid/") {
                    $0.proxy = Self.proxy(proxy, hasCredentials: hasCredentials)
                    $0.connectTimeout = .seconds(2 * patienceFactor)
                }
            }
            // What came after the CONNECT has been read by then.
            try await proxy.wait { $0.endedConnectionCount == 1 }
            #expect(!hasMore.isOpen)
            #expect(proxy.requests.map(\.method) == ["CONNECT"])
        }
    }

    private static let end = "2\r\nno\r\n0\r\n\r\n"
    private static let page = Data(repeating: 120, count: 15_000)

    @Test(
        arguments: [
            ("in chunks", [.send(challengeInChunks + Data(end.utf8))]),
            ("in pieces", [.send(challengeInChunks), .sendSplit(Data(end.utf8), each: 3)]),
            ("with a long page", [.send(Script.head(407, fields: [digest, ("Content-Length", "15000")]) + page)]),
        ] as [(String, [Script.Step])])
    func `a challenge is handled for a tunnel`(name: String, steps: [Script.Step]) async throws {
        try await withServer(Script([.read] + steps + Self.rest)) { server in
            let exchange = try await Exchange(Self.url) { $0.proxy = .digest(at: server.baseURL, tunnel: true) }
            #expect(exchange.text == "x")
            #expect(server.requests.map(\.method) == ["CONNECT", "CONNECT", "GET"])
        }
    }

    @Test func `a challenge in chunks that is cut off is the proxy's fault`() async throws {
        try await withServer([.read, .send(Self.challengeInChunks + Data("2\r\nno".utf8)), .close]) { server in
            await expectFailure(.proxyFailed, in: .connecting) {
                try await Exchange(Self.url) { $0.proxy = .digest(at: server.baseURL, tunnel: true) }
            }
            #expect(server.requests.allSatisfy { $0.method == "CONNECT" })
        }
    }

    /// A tunnel endpoint that does not respond with HTTP is a failure of the proxy, and the error says so.
    @Test(arguments: [
        "HTTP/1.1 403 No\r\nHTTP/1.1 403 No\r\n\r\n", "HTTP/1.1 403 No\r\nX-A\r\n\r\n", "220 mail ESMTP\r\n\r\n",
        "HTTP/1.1 2x0 OK\r\n\r\n", "\r\n\r\n", "",
    ])
    func `a tunnel response that is not HTTP is the proxy's fault`(answer: String) async throws {
        try await withServer([.read, .send(answer), .close]) { proxy in
            _ = await expectFailure(.proxyFailed, in: .connecting) {
                try await Exchange(Self.url) { $0.proxy = .server(proxy.baseURL, tunnel: true) }
            }
        }
    }

    /// The count of progress calls ends an endless refusal of a tunnel, but no response that arrives through a tunnel.
    @Test(arguments: [true, false])
    func `a large body comes through a tunnel`(isInSmallChunks: Bool) async throws {
        let bytes = isInSmallChunks ? 200_000 : 50_000_000
        let fields = isInSmallChunks ? [("Transfer-Encoding", "chunked")] : [("Content-Length", "\(bytes)")]
        let body =
            isInSmallChunks
            ? Data((String(repeating: "1\r\nx\r\n", count: bytes) + "0\r\n\r\n").utf8)
            : Data(repeating: 120, count: bytes)
        let steps = Self.rest.dropLast() + [.send(Script.head(200, fields: fields) + body)]
        try await withServer(Script(Array(steps))) { server in
            let exchange = try await Exchange(Self.url) { $0.proxy = .server(server.baseURL, tunnel: true) }
            #expect(exchange.text.utf8.count == bytes)
        }
    }
}

@Suite("A proxy's response to CONNECT")
struct TunnelResponseTests {
    @Test func `a limited number of bytes may come, in one call or in several`() {
        for calls in [1, 10] {
            var answer = TunnelResponse()
            var bytes = 0
            while answer.progresses(in: 1 + bytes * calls / TunnelResponse.maximumBytes, moved: 0) { bytes += 1 }
            #expect((TunnelResponse.maximumBytes...TunnelResponse.maximumBytes + 1_000).contains(bytes))
        }
    }

    @Test func `calls as ordinary transfers have them do not count`() {
        var answer = TunnelResponse()
        let goesOn = (1...200_000).allSatisfy { call in
            // A few progress calls for each call of libcurl, and more for one that moves a body.
            (0..<10).allSatisfy { _ in answer.progresses(in: call / 2, moved: 0) }
        }
        #expect(goesOn)
        #expect((1...200_000).allSatisfy { answer.progresses(in: 0, moved: $0) })
    }
}
