import Foundation
import NetworkLayer
import NetworkTesting
import TestSupport
import Testing

@testable import CurlTransport

/// A proxy that `scripts/test` starts.
struct ProxyPeer: Sendable, CustomTestStringConvertible {
    let name: String
    var hasPassword = false

    var testDescription: String { name }

    static let all = [
        ProxyPeer(name: "HTTP"), ProxyPeer(name: "HTTP_PASSWORD", hasPassword: true), ProxyPeer(name: "HTTPS"),
        ProxyPeer(name: "HTTPS_PASSWORD", hasPassword: true), ProxyPeer(name: "SOCKS4"), ProxyPeer(name: "SOCKS5"),
        ProxyPeer(name: "SOCKS5_PASSWORD", hasPassword: true),
    ]

    func proxy(password: TransportOptions.Secret = "secret") throws -> TransportOptions.Proxy.Server {
        var proxy = TransportOptions.Proxy.Server(try #require(Peers.proxy(name)))
        if hasPassword {
            proxy.user = "user"
            proxy.password = password
        }
        if name.hasPrefix("HTTPS") { proxy.authorities = .file(Peers.tlsFolder + "/ca.pem") }
        return proxy
    }

    var port: String { Peers.proxy(name)?.split(separator: ":").last.map(String.init) ?? "" }
}

@Suite(
    .enabled(if: Peers.proxy("HTTP") != nil, Peers.absence(of: "NETWORKLAYER_PROXY_HTTP")), .patience(minutes: 1))
struct ProxyTests {
    /// Sends a request to a server in clear text through a proxy.
    private func exchange(
        _ url: String, through proxy: TransportOptions.Proxy.Server, over dispatcher: CurlNetworkDispatcher = .shared
    ) async throws -> Exchange {
        try await Exchange(RequestURL(url), over: dispatcher) { $0.proxy = .explicit(proxy) }
    }

    @Test(arguments: ProxyPeer.all)
    func `http URLs go through the proxy`(peer: ProxyPeer) async throws {
        let server = try ScriptedServer(.ok("through"))
        defer { server.stop() }
        let proxy = try peer.proxy()
        let exchange = try await exchange(server.url("/a"), through: proxy)
        #expect(exchange.text == "through")
        #expect(exchange.metrics.remoteAddress == "127.0.0.1:\(peer.port)")
        #expect(server.requests.map(\.target) == ["/a"])
        #expect(server.requests.first?.values(of: "Proxy-Authorization") == [])
    }

    @Test(arguments: ProxyPeer.all)
    func `https URLs go through a tunnel`(peer: ProxyPeer) async throws {
        let proxy = try peer.proxy()
        let version = Libcurl.found.version
        try await withKnownIssue("libcurl looks up for SOCKS5 whatever addresses it likes", isIntermittent: true) {
            let exchange = try await Exchange(Peers.url(.good, "/hello.txt")) {
                $0.proxy = .explicit(proxy)
                $0.trustPeers()
                // Of the addresses of localhost, the proxy reaches the server only at the IPv4 one.
                if peer.name.hasPrefix("SOCKS") { $0.connection.ipVersion = .v4 }
            }
            #expect(exchange.text == "hello over TLS\n")
            #expect(exchange.metrics.remoteAddress == "127.0.0.1:\(peer.port)")
        } when: {
            peer.name.hasPrefix("SOCKS5") && version >= LibcurlVersion(8, 1) && version < LibcurlVersion(8, 14)
        }
    }

    @Test(arguments: ["HTTP_PASSWORD", "HTTPS_PASSWORD"])
    func `a wrong password gets the proxy's 407, or no tunnel`(name: String) async throws {
        let peer = ProxyPeer(name: name, hasPassword: true)
        let server = try ScriptedServer(.ok("never"))
        defer { server.stop() }
        let proxy = try peer.proxy(password: "wrong")
        let plain = try await exchange(server.url(), through: proxy)
        // Proxies respond with either 401 or 407. The point is that the request went no further.
        #expect([401, 407].contains(plain.status))
        #expect(server.connectionCount == 0)
        let error = await expectFailure(.proxyFailed) {
            try await Exchange(Peers.url(.good)) {
                $0.proxy = .explicit(proxy)
                $0.trustPeers()
            }
        }
        #expect(error.map { !"\($0)".contains("wrong") } == true)
    }

    @Test func `a wrong password for SOCKS is refused`() async throws {
        let proxy = try ProxyPeer(name: "SOCKS5_PASSWORD", hasPassword: true).proxy(password: "wrong")
        await expectFailure(.proxyFailed) {
            try await Exchange(Peers.url(.good)) {
                $0.proxy = .explicit(proxy)
                $0.trustPeers()
            }
        }
    }

    @Test func `an https proxy with a certificate of an unknown authority is refused`() async throws {
        let server = try ScriptedServer(.ok("never"))
        defer { server.stop() }
        let proxy = TransportOptions.Proxy.Server(try #require(Peers.proxy("HTTPS")))
        await expectFailure(.certificateUntrusted) {
            try await exchange(server.url(), through: proxy)
        }
        #expect(server.connectionCount == 0)
    }

    @Test func `socks5h leaves the name to the proxy, socks5 looks it up locally`() async throws {
        let server = try ScriptedServer(.ok("by name"))
        defer { server.stop() }
        let proxy = TransportOptions.Proxy.Server(
            try #require(Peers.proxy("SOCKS5")?.replacing("socks5:", with: "socks5h:")))
        #expect(try await exchange("http://localhost:\(server.port)/", through: proxy).text == "by name")
        let unknown = "http://nonexistent.invalid/"
        await expectFailure(.proxyFailed) { try await exchange(unknown, through: proxy) }
        let local = TransportOptions.Proxy.Server(try #require(Peers.proxy("SOCKS5")))
        await expectFailure(.nameNotResolved) { try await exchange(unknown, through: local) }
    }

    @Test func `a real proxy forwards, or tunnels if the option is set`() async throws {
        let server = try ScriptedServer(.ok("x"))
        defer { server.stop() }
        var proxy = try ProxyPeer(name: "HTTP").proxy()
        _ = try await exchange(server.url(), through: proxy)
        #expect(server.requests.last?.values(of: "Via").isEmpty == false)
        proxy.tunnel = true
        _ = try await exchange(server.url(), through: proxy)
        #expect(server.requests.count == 2)
        #expect(server.requests.last?.values(of: "Via") == [])
    }

    /// Squid's default rules refuse a tunnel to any port but 443, so requests to `http` servers must go as such.
    @Test func `ten requests through Squid with Digest take eleven exchanges`() async throws {
        let server = try ScriptedServer(.ok("through"))
        defer { server.stop() }
        var known = TransportOptions.Proxy.Server(try #require(Peers.proxy("SQUID")))
        (known.user, known.password, known.authenticationScheme) = ("user", "secret", .digest)
        let (proxy, dispatcher) = (known, CurlNetworkDispatcher())
        for number in 0..<10 {
            let text = try await exchange(server.url("/\(number)"), through: proxy, over: dispatcher).text
            #expect(text == "through")
        }
        #expect(server.requests.map(\.target) == (0..<10).map { "/\($0)" })
        let log = try String(contentsOfFile: try #require(Peers.proxy("SQUID_LOG")), encoding: .utf8)
        let lines = log.split(separator: "\n").filter { $0.contains(" http://127.0.0.1:\(server.port)/") }
        // Squid writes the last line when its connection has taken the response.
        #expect((10...11).contains(lines.count), "\(log)")
        #expect(lines.count { $0.contains("TCP_DENIED/407") } == 1)
        await expectFailure(.proxyFailed) {
            try await exchange("https://127.0.0.1:\(server.port)/", through: proxy, over: dispatcher)
        }
    }

    @Test func `hosts of the no-proxy list are reached without it`() async throws {
        let server = try ScriptedServer(.ok("direct"))
        defer { server.stop() }
        var proxy = try ProxyPeer(name: "HTTP").proxy()
        proxy.noProxy = ["example.org", "127.0.0.1"]
        let exchange = try await exchange(server.url(), through: proxy)
        #expect(exchange.metrics.remoteAddress == "127.0.0.1:\(server.port)")
    }
}
