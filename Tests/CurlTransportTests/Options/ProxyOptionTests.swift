import Foundation
import NetworkCore
import Synchronization
import TestSupport
import Testing

@testable import CurlTransport
@testable import NetworkTesting

@Suite("Proxy options", .patience(minutes: 1))
struct ProxyOptionTests {
    @Test func `an HTTP proxy gets the whole URL, credentials, and its own fields`() async throws {
        try await withServer(.ok("from the proxy")) { server in
            var proxy = TransportOptions.Proxy.Server(server.baseURL, user: "me", password: "pw")
            proxy.headerFields = [.acceptLanguage: "tlh"]
            let explicit = proxy
            let exchange = try await OptionExchange("http://example.invalid/a?b") { $0.proxy = .explicit(explicit) }
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
        let challenge = Script.head(
            407, fields: [("Proxy-Authenticate", #"Digest realm="r", nonce="n", qop="auth""#), ("Content-Length", "0")])
        try await withServer(
            scheme == .basic
                ? .ok()
                : [
                    .read, .send(challenge), .read, .send("HTTP/1.1 200 Connected\r\n\r\n"), .read,
                    .send("HTTP/1.1 204 OK\r\n\r\n"),
                ]
        ) { server in
            let user = text.contains(":") ? "%41" : text
            var proxy = TransportOptions.Proxy.Server(
                server.baseURL, user: user, password: TransportOptions.Secret(text))
            proxy.authenticationScheme = scheme
            proxy.tunnel = scheme != .basic
            let explicit = proxy
            do {
                _ = try await OptionExchange("http://example.invalid/") { $0.proxy = .explicit(explicit) }
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
            var proxy = TransportOptions.Proxy.Server(server.baseURL)
            proxy.headerFields = [.acceptLanguage: value]
            let explicit = proxy
            _ = try await OptionExchange("http://example.invalid/") { $0.proxy = .explicit(explicit) }
            #expect(server.requests.first?.values(of: "Accept-Language") == [""])
        }
    }

    @Test func `a proxy's fields stay out of the tunnel`() async throws {
        try await withServer([
            .read, .send("HTTP/1.1 200 Connected\r\n\r\n"), .read,
            .send("HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx"),
        ]) { server in
            var proxy = TransportOptions.Proxy.Server(server.baseURL)
            proxy.tunnel = true
            proxy.headerFields = [.acceptLanguage: "tlh"]
            let explicit = proxy
            let exchange = try await OptionExchange("http://example.invalid/a") { $0.proxy = .explicit(explicit) }
            #expect(exchange.text == "x")
            #expect(server.requests.map(\.method) == ["CONNECT", "GET"])
            #expect(server.requests.map(\.target) == ["example.invalid:80", "/a"])
            #expect(server.requests.map { $0.values(of: "Accept-Language") } == [["tlh"], []])
        }
    }

    @Test func `a tunnel serves only requests with the credentials that opened it`() async throws {
        let connected = "HTTP/1.1 200 Connected\r\n\r\n"
        let server = try ScriptedServer([
            .read, .send(connected), .forEachRequest([.send("HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx")]),
        ])
        defer { server.stop() }
        let dispatcher = CurlNetworkDispatcher()
        for user in ["one", "two", nil, "one", "two"] {
            var proxy = TransportOptions.Proxy.Server(
                server.baseURL, user: user, password: user.map { TransportOptions.Secret($0) })
            proxy.tunnel = true
            let explicit = proxy
            let exchange = try await OptionExchange("http://example.invalid/", over: dispatcher) {
                $0.proxy = .explicit(explicit)
            }
            #expect(exchange.text == "x")
        }
        let connects = server.requests.filter { $0.method == "CONNECT" }
        let credentials = connects.map { $0.values(of: "Proxy-Authorization").first }
        #expect(credentials.prefix(3) == ["Basic b25lOm9uZQ==", "Basic dHdvOnR3bw==", nil])
        // The first user's tunnel stays reserved for that user; newer libcurl versions keep the second user's tunnel
        // too.
        #expect(credentials.dropFirst(3).allSatisfy { $0 == "Basic dHdvOnR3bw==" })
        #expect(server.requests.count(where: { $0.method == "GET" }) == 5)
    }

    /// libcurl reports a proxy that does not listen in the same way as a server.
    @Test(arguments: ["http", "socks5", "https"], [true, false])
    func `a proxy that refuses the connection is the proxy's fault`(scheme: String, isTunnel: Bool) async throws {
        let closed = try ClosedPort()
        defer { closed.stop() }
        var proxy = TransportOptions.Proxy.Server("\(scheme)://127.0.0.1:\(closed.port)")
        proxy.tunnel = isTunnel && scheme != "socks5"
        let explicit = proxy
        let error = await #expect(throws: NetworkError.self) {
            _ = try await OptionExchange("http://example.invalid/") { $0.proxy = .explicit(explicit) }
        }
        #expect(error?.code == .proxyFailed, "\(error as Any)")
        let server = await #expect(throws: NetworkError.self) {
            _ = try await OptionExchange("http://127.0.0.1:\(closed.port)/") { $0.proxy = .none }
        }
        #expect(server?.code == .connectFailed)
    }

    private static let proxyChallenge =
        Script.head(
            407, fields: [("Proxy-Authenticate", #"Digest realm="r", nonce="n", qop="auth""#), ("Content-Length", "2")])
        + Data("no".utf8)
    private static let x = Script.head(200, fields: [("Content-Length", "1")]) + Data("x".utf8)

    @Test func `a proxy that wants Digest gets a request for http as a request`() async throws {
        let server = try ScriptedServer(scripts: [
            [.read, .send(Self.proxyChallenge), .forEachRequest([.send(Self.x)])], [.forEachRequest([.send(Self.x)])],
        ])
        defer { server.stop() }
        let proxy = TransportOptions.Proxy.Server.digest(at: server.baseURL)
        let dispatcher = CurlNetworkDispatcher()
        for _ in 0..<3 {
            let exchange = try await OptionExchange("http://example.invalid/", over: dispatcher) {
                $0.proxy = .explicit(proxy)
            }
            #expect(exchange.text == "x")
        }
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
        let other = try await OptionExchange("http://example.invalid/", over: dispatcher) {
            var proxy = proxy
            proxy.password = "other"
            $0.proxy = .explicit(proxy)
        }
        #expect(other.status == 200 && server.connectionCount == connections + 1)
        #expect(server.requests[4].values(of: "Proxy-Authorization").isEmpty)
        await dispatcher.shutDown(within: .zero)
    }

    @Test func `a proxy's Digest opens a tunnel, which the next requests share`() async throws {
        let server = try ScriptedServer([
            .read, .send(Self.proxyChallenge), .read, .send("HTTP/1.1 200 Connected\r\n\r\n"),
            .forEachRequest([.send(Self.x)]),
        ])
        defer { server.stop() }
        var proxy = TransportOptions.Proxy.Server.digest(at: server.baseURL)
        proxy.tunnel = true
        let dispatcher = CurlNetworkDispatcher()
        for _ in 0..<3 {
            let exchange = try await OptionExchange("http://example.invalid/", over: dispatcher) { [proxy] in
                $0.proxy = .explicit(proxy)
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
        await dispatcher.shutDown(within: .zero)
    }

    /// A SOCKS5 proxy is offered no authentication, and a password if there is one. With Kerberos, libcurl would
    /// present the process's ticket, on the loop's thread.
    @Test(arguments: [true, false])
    func `a SOCKS proxy is offered no Kerberos`(isNamed: Bool) async throws {
        let listener = try LoopbackSocket.listening()
        defer { listener.close() }
        let url = "socks5h://127.0.0.1:\(try listener.localPort())"
        let proxy =
            isNamed
            ? TransportOptions.Proxy.Server(url, user: "me", password: "pw") : TransportOptions.Proxy.Server(url)
        let greeting = Guarded(Data())
        Thread.detachNewThread {
            guard let socket = listener.accept() else { return }
            defer { socket.close() }
            let bytes = socket.receive() ?? Data()
            greeting.withLock { $0 = bytes }
            _ = socket.send(Data([5, 1]))
            _ = socket.receive()
        }
        let error = await OptionExchange.failure(through: proxy)
        #expect(error?.code == .proxyFailed)
        let methods = Set(greeting.withLock { $0.dropFirst(2) })
        #expect(methods == (isNamed ? [0, 2] : [0]))
    }

    /// Regression: a proxy that offered NTLM got the response to it, from which the password is found.
    @Test(arguments: [true, false], [#"Basic realm="r""#, "NTLM", "Negotiate"])
    func `anySafe takes Digest from a proxy too, and nothing else`(offersDigest: Bool, other: String) async throws {
        var fields = [("Proxy-Authenticate", other), ("Content-Length", "2")]
        if offersDigest { fields.append(("Proxy-Authenticate", #"Digest realm="r", nonce="n", qop="auth""#)) }
        // On a busy machine the second request may need another connection.
        let again: Script = offersDigest ? [.read, .send(Self.x)] : [.stall]
        let server = try ScriptedServer(scripts: [
            [.read, .send(Script.head(407, fields: fields) + Data("no".utf8)), .read, .send(Self.x)], again,
        ])
        defer { server.stop() }
        var proxy = TransportOptions.Proxy.Server(server.baseURL, user: "me", password: "pw")
        proxy.authenticationScheme = .anySafe
        let explicit = proxy
        let exchange = try await OptionExchange("http://example.invalid/") { $0.proxy = .explicit(explicit) }
        #expect(exchange.status == (offersDigest ? 200 : 407))
        let sent = server.requests.flatMap { $0.values(of: "Proxy-Authorization") }
        #expect(sent.count == (offersDigest ? 1 : 0))
        #expect(sent.allSatisfy { $0.hasPrefix("Digest ") })
    }

    /// Bytes behind the tunnel's head are the response to its request, as an overloaded server's may come at once. What
    /// follows is no other request's.
    @Test
    func `a response that comes before the request leaves no connection`() async throws {
        func response(_ text: String) -> String { "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n\(text)" }
        let proxy = try ScriptedServer([
            .read, .send("HTTP/1.1 200 Connected\r\n\r\n" + response("early")),
            .forEachRequest([.send(response("late!"))]),
        ])
        defer { proxy.stop() }
        var server = TransportOptions.Proxy.Server(proxy.baseURL)
        server.tunnel = true
        let explicit = server
        for _ in 0..<3 {
            let exchange = try await OptionExchange("http://example.invalid/") { $0.proxy = .explicit(explicit) }
            #expect(exchange.text == "early")
        }
        #expect(proxy.connectionCount == 3)
    }

    @Test func `SOCKS4a carries the name`() async throws {
        // VN 4, CONNECT, port 80, an address that means 'by name', no user, the name; the reply grants the request.
        try await withServer([
            .send(Data([0, 90, 0, 0, 0, 0, 0, 0])), .read, .send("HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx"),
        ]) { server in
            let exchange = try await OptionExchange("http://example.invalid/") {
                $0.proxy = .explicit(TransportOptions.Proxy.Server("socks4a://127.0.0.1:\(server.port)"))
            }
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
            let followed = try await OptionExchange(server.url())
            #expect(followed.text == "by the environment's proxy")
            let direct = try await OptionExchange(server.url()) { $0.proxy = .none }
            #expect(direct.text == "x")
            let guarded = try await OptionExchange(server.url()) { $0.addressPolicy = .custom { _ in true } }
            #expect(guarded.text == "x")
            let other = try ScriptedServer(.ok("by mine"))
            let mine = try await OptionExchange(server.url()) {
                $0.proxy = .explicit(TransportOptions.Proxy.Server(other.baseURL))
            }
            #expect(mine.text == "by mine")
            setenv("no_proxy", "*", 1)
            let still = try await OptionExchange(server.url()) {
                $0.proxy = .explicit(TransportOptions.Proxy.Server(other.baseURL))
            }
            #expect(still.text == "by mine")
        }
    }

    /// Regression: a request without credentials for a proxy used the tunnel that those of another one had opened,
    /// since the environment's proxy for `http` was not taken for one that tunnels.
    @Test func `a tunnel through the environment's proxy is not one that other credentials opened`() async {
        await #expect(processExitsWith: .success) {
            let proxy = try ScriptedServer([
                .read, .send("HTTP/1.1 200 OK\r\n\r\n"),
                .forEachRequest([.send("HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx")]),
            ])
            setenv("http_proxy", proxy.baseURL, 1)
            setenv("no_proxy", "", 1)
            let url = "http://a.invalid/"
            let dispatcher = CurlNetworkDispatcher()
            for number in 0..<4 {
                let exchange = try await OptionExchange(url, over: dispatcher) {
                    $0.names.connectTo = [.init(toHost: "b.invalid", toPort: 80)]
                    guard number % 2 == 0 else { return }
                    var server = TransportOptions.Proxy.Server(proxy.baseURL)
                    server.headerFields[.cookie] = "mine"
                    $0.proxy = .explicit(server)
                }
                #expect(exchange.text == "x")
            }
            let tunnels = proxy.requests.filter { $0.head.hasPrefix("CONNECT b.invalid:80 ") }
            // Each kind shares one.
            #expect(tunnels.map { $0.head.contains("Cookie: mine") } == [true, false])
        }
    }

    /// The exceptions, the URL's host, and whether they name it.
    private static let exceptions: [([String], String, Bool)] = [
        ([], "localhost", false), (["localhost"], "localhost", true), (["LocalHost"], "localHOST", true),
        (["localhost"], "a.localhost", true), ([".localhost"], "a.localhost", true),
        ([".localhost"], "localhost", true), (["host"], "localhost", false), (["a.localhost"], "localhost", false),
        (["b.test", "localhost"], "localhost", true), (["*"], "localhost", true),
        (["localhost."], "localhost", true), (["127.0.0.1"], "localhost", false), (["127.0.0.1"], "127.0.0.1", true),
        (["127.0.0.2"], "127.0.0.1", false), (["0.0.1"], "127.0.0.1", false), (["127.0.0.0/8"], "127.0.0.1", true),
        (["128.0.0.0/8"], "127.0.0.1", false), (["*"], "127.0.0.1", true),
    ]

    /// With a server name, the library decides.
    @Test(arguments: exceptions)
    func `exceptions from the proxy are read as libcurl reads them`(
        list: [String], host: String, isNamed: Bool
    ) async throws {
        #expect(ProxyExceptions(list.joined(separator: ",")).contains(host) == isNamed)
        // The version from which libcurl knows ranges.
        guard Libcurl.found.version >= LibcurlVersion(7, 86) else { return }
        let (server, proxy) = (try ScriptedServer(.ok("straight")), try ScriptedServer(.ok("by proxy")))
        defer { for server in [server, proxy] { server.stop() } }
        var explicit = TransportOptions.Proxy.Server(proxy.baseURL)
        explicit.noProxy = list
        let chosen = explicit
        let exchange = try await OptionExchange("http://\(host):\(server.port)/") { $0.proxy = .explicit(chosen) }
        #expect(exchange.text == (isNamed ? "straight" : "by proxy"))
    }

    @Test(arguments: [
        ("::1", "[::1]", true), ("[::1]", "[::1]", true), ("::2", "[::1]", false), ("::/64", "[::1]", true),
        ("b.test a.test", "a.test", true), ("b.test,\ta.test", "a.test", true), (",", "a.test", false),
        ("*,b.test", "a.test", true), ("b.test *", "[::1]", true), ("*.test", "a.test", false),
        ("::1/128", "[::1]", true), ("0:0:0:0:0:0:0:1", "[::1]", true), ("::1", "[0:0:0:0:0:0:0:1]", true),
        ("fe80::/10, ::1/64", "[::1]", true), ("fe80::/10", "[::1]", false),
        ("/8", "127.0.0.1", false), ("127.0.0.1/33", "127.0.0.1", false),
    ])
    func `a list of exceptions has addresses, ranges and blanks`(list: String, host: String, isNamed: Bool) {
        #expect(ProxyExceptions(list).contains(host) == isNamed)
    }

    /// Regression: libcurl knows `*` as the whole list alone, and addresses without brackets, so that the request and
    /// its credentials went to the proxy.
    @Test func `an asterisk matches every host wherever it stands, and brackets are those of a URL`() async throws {
        let (server, proxy) = (try ScriptedServer(.ok("straight")), try ScriptedServer(.ok("by proxy")))
        defer { for server in [server, proxy] { server.stop() } }
        for list in [["*", "b.test"], ["b.test", "*"]] {
            let exchange = try await OptionExchange("http://localhost:\(server.port)/") {
                var explicit = TransportOptions.Proxy.Server(proxy.baseURL)
                explicit.noProxy = list
                $0.proxy = .explicit(explicit)
            }
            #expect(exchange.text == "straight")
        }
        // Nothing listens there: the connection itself fails, and not the proxy's.
        let error = await #expect(throws: NetworkError.self) {
            try await OptionExchange("http://[::1]:1/") {
                var explicit = TransportOptions.Proxy.Server(proxy.baseURL)
                explicit.noProxy = ["[::1]"]
                $0.proxy = .explicit(explicit)
            }
        }
        #expect(error?.code == .connectFailed && proxy.connectionCount == 0)
    }

    /// Regression: libcurl compared the host, each version in its own way, and none knew brackets. The request and its
    /// credentials went to the proxy.
    @Test(arguments: ["[::1]", "::1/128", "::/64", "0:0:0:0:0:0:0:1", "b.test, ::1"])
    func `exceptions are the same over each libcurl`(list: String) async throws {
        // Nothing listens at the server's port: the connection itself fails, and not the proxy's.
        let proxy = try ScriptedServer(.ok("by proxy"))
        defer { proxy.stop() }
        var server = TransportOptions.Proxy.Server(proxy.baseURL)
        server.noProxy = list.split { ", ".contains($0) }.map(String.init)
        let explicit = server
        let error = await #expect(throws: NetworkError.self) {
            try await OptionExchange("http://[::1]:1/") { $0.proxy = .explicit(explicit) }
        }
        #expect(error?.code == .connectFailed && proxy.connectionCount == 0)
        await #expect(processExitsWith: .success) { [list] in
            let proxy = try ScriptedServer(.ok("by proxy"))
            setenv("http_proxy", proxy.baseURL, 1)
            setenv("no_proxy", list, 1)
            let error = await #expect(throws: NetworkError.self) { try await OptionExchange("http://[::1]:1/") }
            #expect(error?.code == .connectFailed && proxy.connectionCount == 0)
            // With an option that is rarely set, too.
            let rare = await #expect(throws: NetworkError.self) {
                try await OptionExchange("http://[::1]:1/") { $0.tls.minimumVersion = .tls1_3 }
            }
            #expect(rare?.code == .connectFailed && proxy.connectionCount == 0)
            let other = try await OptionExchange("http://other.invalid/")
            #expect(other.text == "by proxy")
        }
    }

    /// Regression: libcurl compared the server name, which is the host of the URL that it gets.
    @Test(arguments: [(["127.0.0.1"], true), (["direct.test"], false), (["127.0.0.0/8"], true), ([], false)])
    func `exceptions from the proxy are for the URL's host, whatever the server name`(
        list: [String], isException: Bool
    ) async throws {
        let (server, proxy) = (try ScriptedServer([.read, .close]), try ScriptedServer(.response(403)))
        defer { for server in [server, proxy] { server.stop() } }
        var explicit = TransportOptions.Proxy.Server(proxy.baseURL)
        explicit.noProxy = list
        let chosen = explicit
        await #expect(throws: NetworkError.self) {
            try await OptionExchange("https://127.0.0.1:\(server.port)/") {
                $0.tls.serverName = "direct.test"
                $0.proxy = .explicit(chosen)
            }
        }
        #expect(server.connectionCount == (isException ? 1 : 0))
        #expect(proxy.connectionCount == (isException ? 0 : 1))
    }
}
