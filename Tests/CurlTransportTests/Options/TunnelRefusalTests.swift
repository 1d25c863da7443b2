import Foundation
import NetworkCore
import Synchronization
import TestSupport
import Testing

@testable import CurlTransport
@testable import NetworkTesting

/// What a proxy sends in place of a tunnel, and what comes through one.
@Suite("Responses to CONNECT", .patience(minutes: 1))
struct TunnelRefusalTests {
    /// libcurl reads a refusal of the tunnel within one call, one byte at a time, for as long as bytes arrive.
    @Test(arguments: EndlessRefusal.all)
    func `an endless refusal of the tunnel holds up nothing`(refusal: EndlessRefusal) async throws {
        let proxy = try ScriptedServer([.read, .send(refusal.head), .flood(refusal.flood)])
        let server = try ScriptedServer(.ok("x"))
        defer {
            proxy.stop()
            server.stop()
        }
        var way = TransportOptions.Proxy.Server(
            proxy.baseURL, user: refusal.isAnswered ? "me" : nil, password: refusal.isAnswered ? "pw" : nil)
        if refusal.isAnswered { way.authenticationScheme = .digest }
        way.tunnel = true
        let (explicit, dispatcher) = (way, CurlNetworkDispatcher())
        async let tunnelled = OptionExchange.failure(through: explicit, over: dispatcher)
        try await proxy.wait { $0.requests.count >= 1 }
        // Less than the 30 s of the request through the proxy.
        let exchange = try await OptionExchange(server.url(), over: dispatcher) { $0.totalTimeout = .seconds(25) }
        #expect(exchange.text == "x")
        let error = await tunnelled
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
            var way = TransportOptions.Proxy.Server(
                proxy.baseURL, user: hasCredentials ? "me" : nil, password: hasCredentials ? "pw" : nil)
            if hasCredentials { way.authenticationScheme = .digest }
            way.tunnel = true
            let explicit = way
            let error = await #expect(throws: NetworkError.self) {
                _ = try await OptionExchange("\(scheme)://example.invalid/") {
                    $0.proxy = .explicit(explicit)
                    $0.connectTimeout = .seconds(2 * patienceFactor)
                }
            }
            #expect(error?.code == .connectTimeout, "\(error as Any)")
            #expect(error?.phase == .connecting)
            // What came after the CONNECT has been read by then.
            try await proxy.wait { $0.endedConnectionCount == 1 }
            #expect(!hasMore.isOpen)
            #expect(proxy.requests.map(\.method) == ["CONNECT"])
        }
    }

    @Test(arguments: [true, false])
    func `a challenge in chunks is handled for a tunnel`(isInPieces: Bool) async throws {
        let body = "2\r\nno\r\n0\r\n\r\n"
        let pieces: [Script.Step] =
            isInPieces
            ? [.send(Self.challengeInChunks), .sendSplit(Data(body.utf8), each: 3)]
            : [.send(Self.challengeInChunks + Data(body.utf8))]
        try await withServer(
            Script(
                [.read] + pieces + [
                    .read, .send("HTTP/1.1 200 Connected\r\n\r\n"), .read,
                    .send("HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx"),
                ])
        ) { server in
            var proxy = TransportOptions.Proxy.Server.digest(at: server.baseURL)
            proxy.tunnel = true
            let exchange = try await OptionExchange("http://example.invalid/") { [proxy] in $0.proxy = .explicit(proxy)
            }
            #expect(exchange.text == "x")
            #expect(server.requests.map(\.method) == ["CONNECT", "CONNECT", "GET"])
        }
    }

    @Test func `a challenge in chunks that is cut off is the proxy's fault`() async throws {
        let server = try ScriptedServer([.read, .send(Self.challengeInChunks + Data("2\r\nno".utf8)), .close])
        defer { server.stop() }
        var proxy = TransportOptions.Proxy.Server.digest(at: server.baseURL)
        proxy.tunnel = true
        let error = await OptionExchange.failure(through: proxy)
        #expect(error?.code == .proxyFailed && error?.phase == .connecting, "\(error as Any)")
        #expect(server.requests.allSatisfy { $0.method == "CONNECT" })
    }

    private static let challengeInChunks = Script.head(
        407,
        fields: [
            ("Proxy-Authenticate", #"Digest realm="r", nonce="n", qop="auth""#), ("Transfer-Encoding", "chunked"),
        ])

    /// A tunnel endpoint that does not respond with HTTP is a failure of the proxy, and the error says so.
    @Test(arguments: [
        "HTTP/1.1 403 No\r\nHTTP/1.1 403 No\r\n\r\n", "HTTP/1.1 403 No\r\nX-A\r\n\r\n", "220 mail ESMTP\r\n\r\n",
        "HTTP/1.1 2x0 OK\r\n\r\n", "\r\n\r\n", "",
    ])
    func `a tunnel response that is not HTTP is the proxy's fault`(answer: String) async throws {
        let proxy = try ScriptedServer([.read, .send(answer), .close])
        defer { proxy.stop() }
        var way = TransportOptions.Proxy.Server(proxy.baseURL)
        way.tunnel = true
        let error = await OptionExchange.failure(through: way)
        #expect(error?.code == .proxyFailed && error?.phase == .connecting, "\(error as Any)")
    }

    @Test func `a challenge with a long page is handled for a tunnel too`() async throws {
        let page = Data(repeating: 120, count: 15_000)
        let challenge = Script.head(
            407,
            fields: [
                ("Proxy-Authenticate", #"Digest realm="r", nonce="n", qop="auth""#),
                ("Content-Length", "\(page.count)"),
            ])
        try await withServer([
            .read, .send(challenge + page), .read, .send("HTTP/1.1 200 Connected\r\n\r\n"), .read,
            .send("HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx"),
        ]) { server in
            var proxy = TransportOptions.Proxy.Server.digest(at: server.baseURL)
            proxy.tunnel = true
            let explicit = proxy
            let exchange = try await OptionExchange("http://example.invalid/") { $0.proxy = .explicit(explicit) }
            #expect(exchange.text == "x")
            #expect(server.requests.map(\.method) == ["CONNECT", "CONNECT", "GET"])
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
        try await withServer([
            .read, .send("HTTP/1.1 200 Connected\r\n\r\n"), .read, .send(Script.head(200, fields: fields) + body),
        ]) { server in
            var proxy = TransportOptions.Proxy.Server(server.baseURL)
            proxy.tunnel = true
            let explicit = proxy
            let exchange = try await OptionExchange("http://example.invalid/") { $0.proxy = .explicit(explicit) }
            #expect(exchange.text.utf8.count == bytes)
        }
    }
}

/// An endless refusal of a tunnel by a proxy.
struct EndlessRefusal: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let head: String
    let flood: Data
    /// Whether the request has the credentials for the challenge.
    var isAnswered = false
    /// Whether the head is endless, rather than the body.
    var isHead = false

    private static let challenge =
        "HTTP/1.1 407 No\r\nProxy-Authenticate: Digest realm=\"r\", nonce=\"n\", qop=\"auth\"\r\n"
    private static let text = Data(repeating: 97, count: 65_536)

    static let all = [
        EndlessRefusal(
            testDescription: "a length, no password", head: challenge + "Content-Length: 1000000000000\r\n\r\n",
            flood: text),
        EndlessRefusal(
            testDescription: "a length, Digest", head: challenge + "Content-Length: 1000000000000\r\n\r\n", flood: text,
            isAnswered: true),
        EndlessRefusal(
            testDescription: "chunks, Digest", head: challenge + "Transfer-Encoding: chunked\r\n\r\n",
            flood: Data("10000\r\n".utf8) + text + Data("\r\n".utf8), isAnswered: true),
        EndlessRefusal(
            testDescription: "header fields", head: challenge,
            flood: Data(String(repeating: "A: b\r\n", count: 9_999).utf8), isHead: true),
    ]
}
