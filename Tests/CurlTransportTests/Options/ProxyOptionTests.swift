import Foundation
import NetworkCore
import Synchronization
import TestSupport
import Testing

@testable import CurlTransport
@testable import NetworkTesting

@Suite("Proxy options", .patience(minutes: 1))
struct ProxyOptionTests {
    private static let connected = Script.Step.send("HTTP/1.1 200 Connected\r\n\r\n")
    private static let digest = ("Proxy-Authenticate", #"Digest realm="r", nonce="n", qop="auth""#)
    private static let challenge = Script.Step.respond(407, "no", fields: [digest])
    private static let url = "http://example.invalid/"

    @Test func `an HTTP proxy gets the whole URL, credentials, and its own fields`() async throws {
        try await withServer(.ok("from the proxy")) { server in
            let exchange = try await Exchange(Self.url + "a?b") {
                $0.proxy = .server(server.baseURL, user: "me", password: "pw") {
                    $0.headerFields = [.acceptLanguage: "tlh"]
                }
            }
            #expect(exchange.text == "from the proxy")
            let seen = try #require(server.requests.first)
            #expect(seen.target == "http://example.invalid/a?b")
            #expect(seen.values(of: "Proxy-Authorization") == ["Basic bWU6cHc="])
            #expect(seen.values(of: "Accept-Language") == ["tlh"])
        }
    }

    /// Older libcurl versions percent-decode them.
    @Test(
        arguments: ["a%41", "%0d%0aX: y", "100%", "%3Ab", "%25", "%zz%00"],
        [TransportOptions.Proxy.Server.AuthenticationScheme.basic, .digest])
    func `user and password go out as they are`(
        text: String, scheme: TransportOptions.Proxy.Server.AuthenticationScheme
    ) async throws {
        let challenging: Script = [
            .read, .respond(407, fields: [Self.digest]), .read, Self.connected, .read, .respond(204),
        ]
        try await withServer(scheme == .basic ? .ok() : challenging) { server in
            let user = text.contains(":") ? "%41" : text
            do {
                _ = try await Exchange(Self.url) {
                    $0.proxy = .server(
                        server.baseURL, user: user, password: .init(text), tunnel: scheme != .basic, scheme: scheme)
                }
            } catch let error as NetworkError where error.code == .unsupported {
                #expect(scheme != .basic && Libcurl.found.suffers(from: .proxyCredentialsAreDecoded))
                #expect(server.requests.isEmpty)
                return
            }
            let seen = try #require(server.requests.flatMap { $0.values(of: "Proxy-Authorization") }.last)
            if scheme == .basic {
                #expect(seen == "Basic " + Data("\(user):\(text)".utf8).base64EncodedString())
            } else {
                #expect(seen.contains("username=\"\(user)\""))
            }
        }
    }

    @Test(arguments: ["", "  "])
    func `a field without value goes out empty`(value: String) async throws {
        try await withServer(.ok("from the proxy")) { server in
            _ = try await Exchange(Self.url) {
                $0.proxy = .server(server.baseURL) { $0.headerFields = [.acceptLanguage: value] }
            }
            #expect(server.requests.first?.values(of: "Accept-Language") == [""])
        }
    }

    @Test func `a proxy's fields stay out of the tunnel`() async throws {
        try await withServer([.read, Self.connected, .read, .ok("x")]) { server in
            let exchange = try await Exchange(Self.url + "a") {
                $0.proxy = .server(server.baseURL, tunnel: true) { $0.headerFields = [.acceptLanguage: "tlh"] }
            }
            #expect(exchange.text == "x")
            #expect(server.requests.map(\.method) == ["CONNECT", "GET"])
            #expect(server.requests.map(\.target) == ["example.invalid:80", "/a"])
            #expect(server.requests.map { $0.values(of: "Accept-Language") } == [["tlh"], []])
        }
    }

    @Test func `a tunnel serves only requests with the credentials that opened it`() async throws {
        try await withServer([.read, Self.connected, .forEachRequest([.ok("x")])]) { server in
            let dispatcher = CurlNetworkDispatcher()
            for user in ["one", "two", nil, "one", "two"] {
                let exchange = try await Exchange(Self.url, over: dispatcher) {
                    $0.proxy = .server(server.baseURL, user: user, password: user.map { .init($0) }, tunnel: true)
                }
                #expect(exchange.text == "x")
            }
            let connects = server.requests.filter { $0.method == "CONNECT" }
            let credentials = connects.map { $0.values(of: "Proxy-Authorization").first }
            #expect(credentials.prefix(3) == ["Basic b25lOm9uZQ==", "Basic dHdvOnR3bw==", nil])
            // The first user's tunnel stays reserved for that user; newer libcurl versions keep the second user's
            // tunnel too.
            #expect(credentials.dropFirst(3).allSatisfy { $0 == "Basic dHdvOnR3bw==" })
            #expect(server.requests.count(where: { $0.method == "GET" }) == 5)
        }
    }

    /// libcurl reports a proxy that does not listen in the same way as a server.
    @Test(arguments: ["http", "socks5", "https"], [true, false])
    func `a proxy that refuses the connection is the proxy's fault`(scheme: String, isTunnel: Bool) async throws {
        let closed = try ClosedPort()
        defer { closed.stop() }
        let place = "\(scheme)://127.0.0.1:\(closed.port)"
        await expectFailure(.proxyFailed) {
            try await Exchange(Self.url) { $0.proxy = .server(place, tunnel: isTunnel && scheme != "socks5") }
        }
        await expectFailure(.connectFailed) { try await Exchange(closed.url()) { $0.proxy = .none } }
    }

    @Test func `a proxy that wants Digest gets a request for http as a request`() async throws {
        try await withServer(
            [.read, Self.challenge, .forEachRequest([.ok("x")])], [.forEachRequest([.ok("x")])]
        ) { server async throws in
            let dispatcher = CurlNetworkDispatcher()
            func exchange(_ password: TransportOptions.Secret) async throws -> Exchange {
                try await Exchange(Self.url, over: dispatcher) {
                    $0.proxy = .server(server.baseURL, user: "me", password: password, scheme: .digest)
                }
            }
            for _ in 0..<3 { #expect(try await exchange("pw").text == "x") }
            #expect(server.requests.allSatisfy { $0.head.hasPrefix("GET http://example.invalid/ HTTP/1.1\r\n") })
            // Only the first request is challenged; the next ones count on.
            let counts = server.requests.map { request -> String? in
                let value = request.values(of: "Proxy-Authorization").first
                return value?.hasPrefix("Digest username=\"me\"") == true
                    ? value?.firstMatch(of: /nc=([0-9a-f]{8})/)?.1.description : nil
            }
            #expect(counts == [nil, "00000001", "00000002", "00000003"])
            let connections = server.connectionCount
            // Other credentials have another connection, and a nonce of their own.
            #expect(try await exchange("other").status == 200 && server.connectionCount == connections + 1)
            #expect(server.requests[4].values(of: "Proxy-Authorization").isEmpty)
        }
    }

    @Test func `a proxy's Digest opens a tunnel, which the next requests share`() async throws {
        try await withServer([
            .read, Self.challenge, .read, Self.connected, .forEachRequest([.ok("x")]),
        ]) { server in
            let dispatcher = CurlNetworkDispatcher()
            for _ in 0..<3 {
                let exchange = try await Exchange(Self.url, over: dispatcher) {
                    $0.proxy = .digest(at: server.baseURL, tunnel: true)
                }
                #expect(exchange.text == "x")
            }
            // The challenge concerns the tunnel, before the request goes out.
            #expect(
                server.requests.map { String($0.head.prefix(7)) } == ["CONNECT", "CONNECT"]
                    + Array(repeating: "GET / H", count: 3))
            let answer = server.requests[1].values(of: "Proxy-Authorization").first
            #expect(answer?.hasPrefix(#"Digest username="me""#) == true)
            #expect(server.requests[2].values(of: "Proxy-Authorization") == [])
        }
    }

    /// A SOCKS5 proxy is offered no authentication, and a password if there is one. With Kerberos, libcurl would
    /// present the process's ticket, on the loop's thread.
    @Test(arguments: [true, false])
    func `a SOCKS proxy is offered no Kerberos`(isNamed: Bool) async throws {
        let listener = try LoopbackSocket.listening()
        defer { listener.close() }
        let url = "socks5h://127.0.0.1:\(try listener.localPort())"
        let greeting = Guarded(Data())
        Thread.detachNewThread {
            guard let socket = listener.accept() else { return }
            defer { socket.close() }
            let bytes = socket.receive() ?? Data()
            greeting.withLock { $0 = bytes }
            _ = socket.send(Data([5, 1]))
            _ = socket.receive()
        }
        await expectFailure(.proxyFailed) {
            try await Exchange(Self.url, over: CurlNetworkDispatcher()) {
                $0.proxy = isNamed ? .server(url, user: "me", password: "pw") : .server(url)
            }
        }
        #expect(Set(greeting.withLock { $0.dropFirst(2) }) == (isNamed ? [0, 2] : [0]))
    }

    /// Regression: a proxy that offered NTLM got the response to it, from which the password is found.
    @Test(arguments: [true, false], [#"Basic realm="r""#, "NTLM", "Negotiate"])
    func `anySafe takes Digest from a proxy too, and nothing else`(offersDigest: Bool, other: String) async throws {
        let fields = [("Proxy-Authenticate", other)] + (offersDigest ? [Self.digest] : [])
        // On a busy machine the second request may need another connection.
        try await withServer(
            [.read, .respond(407, "no", fields: fields), .read, .ok("x")],
            offersDigest ? [.read, .ok("x")] : [.stall]
        ) { server in
            let exchange = try await Exchange(Self.url) {
                $0.proxy = .server(server.baseURL, user: "me", password: "pw", scheme: .anySafe)
            }
            #expect(exchange.status == (offersDigest ? 200 : 407))
            let sent = server.requests.flatMap { $0.values(of: "Proxy-Authorization") }
            #expect(sent.count == (offersDigest ? 1 : 0))
            #expect(sent.allSatisfy { $0.hasPrefix("Digest ") })
        }
    }

    /// Bytes behind the tunnel's head are the response to its request, as an overloaded server's may come at once. What
    /// follows is no other request's.
    @Test func `a response that comes before the request leaves no connection`() async throws {
        let early = "HTTP/1.1 200 Connected\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nearly"
        try await withServer([.read, .send(early), .forEachRequest([.ok("late!")])]) { proxy in
            for _ in 0..<3 {
                let exchange = try await Exchange(Self.url) { $0.proxy = .server(proxy.baseURL, tunnel: true) }
                #expect(exchange.text == "early")
            }
            #expect(proxy.connectionCount == 3)
        }
    }

    @Test func `SOCKS4a carries the name`() async throws {
        // VN 4, CONNECT, port 80, an address that means 'by name', no user, the name; the reply grants the request.
        try await withServer([.send(Data([0, 90, 0, 0, 0, 0, 0, 0])), .read, .ok("x")]) { server in
            let exchange = try await Exchange(Self.url) { $0.proxy = .server("socks4a://127.0.0.1:\(server.port)") }
            #expect(exchange.text == "x")
            // The request line that the server reads begins with the SOCKS request.
            let head = try #require(server.requests.first?.head)
            #expect(head.hasPrefix("\u{4}\u{1}\u{0}\u{50}\u{0}\u{0}\u{0}\u{1}"))
            #expect(head.contains("example.invalid\u{0}GET / HTTP/1.1"))
        }
    }

    @Test func `the environment counts, unless a proxy or none is asked for`() async {
        await #expect(processExitsWith: .success) {
            let server = try ScriptedServer(.ok("x"))
            let proxy = try ScriptedServer(.ok("by the environment's proxy"))
            setenv("http_proxy", proxy.baseURL, 1)
            setenv("no_proxy", "", 1)
            #expect(try await Exchange(server.url()).text == "by the environment's proxy")
            #expect(try await Exchange(server.url()) { $0.proxy = .none }.text == "x")
            #expect(try await Exchange(server.url()) { $0.addressPolicy = .custom { _ in true } }.text == "x")
            let other = try ScriptedServer(.ok("by mine"))
            for exceptions in ["", "*"] {
                setenv("no_proxy", exceptions, 1)
                #expect(try await Exchange(server.url()) { $0.proxy = .server(other.baseURL) }.text == "by mine")
            }
        }
    }

    /// Regression: a request without credentials for a proxy used the tunnel that those of another one had opened,
    /// since the environment's proxy for `http` was not taken for one that tunnels.
    @Test func `a tunnel through the environment's proxy is not one that other credentials opened`() async {
        await #expect(processExitsWith: .success) {
            let proxy = try ScriptedServer([
                .read, .send("HTTP/1.1 200 OK\r\n\r\n"), .forEachRequest([.ok("x")]),
            ])
            setenv("http_proxy", proxy.baseURL, 1)
            setenv("no_proxy", "", 1)
            let dispatcher = CurlNetworkDispatcher()
            for number in 0..<4 {
                let exchange = try await Exchange("http://a.invalid/", over: dispatcher) {
                    $0.names.connectTo = [.init(toHost: "b.invalid", toPort: 80)]
                    guard number % 2 == 0 else { return }
                    $0.proxy = .server(proxy.baseURL) { $0.headerFields[.cookie] = "mine" }
                }
                #expect(exchange.text == "x")
            }
            let tunnels = proxy.requests.filter { $0.head.hasPrefix("CONNECT b.invalid:80 ") }
            // Each kind shares one.
            #expect(tunnels.map { $0.head.contains("Cookie: mine") } == [true, false])
        }
    }
}
