import HTTPTypes
import NetworkCore
import Testing

@testable import CurlTransport

@Suite("Owners of tunnels")
struct TunnelOwnersTests {
    private func proxy(_ url: String, _ user: String? = nil, fields: HTTPFields = [:]) -> TransportOptions.Proxy.Server
    {
        var proxy = TransportOptions.Proxy.Server(url, user: user, password: user.map { TransportOptions.Secret($0) })
        proxy.headerFields = fields
        return proxy
    }

    /// Regression: each spelling had an owner of its own, and libcurl gave the tunnel of one to the other.
    @Test(arguments: [
        ("http://p:3128", "http://p:3128/"), ("http://p", "http://p:1080"), ("HTTP://P:1", "http://p:1"),
        ("https://p", "https://p:443/"), ("http://[::1]:1", "http://[0:0:0:0:0:0:0:1]:1"),
        ("http://[::FFFF:7f00:1]:1", "http://[::ffff:127.0.0.1]:1"),
    ])
    func `several spellings are one proxy`(one: String, other: String) {
        let owners = TunnelOwners()
        #expect(owners.claim(for: proxy(one, "me")) != nil)
        #expect(owners.claim(for: proxy(other, "you")) == nil)
        #expect(owners.claim(for: proxy(other, "me")) != nil)
    }

    @Test(arguments: ["192.168.1.10", "[::1]", "[2001:db8::1]"])
    func `a proxy is found in libcurl's message`(host: String) throws {
        let place = try #require(ProxyPlace("http://\(host):3128"))
        let name = ProxyExceptions.withoutBrackets(host)
        #expect(place.isNamed(in: "Failed to connect to \(name) port 3128: Connection refused"))
        #expect(!place.isNamed(in: "Failed to connect to \(name) port 80: Connection refused"))
    }

    @Test func `a challenge of a proxy that is passed by costs no connection`() throws {
        var request = TransportRequest(url: try RequestURL("http://h/"))
        var server = proxy("http://p:1", "me")
        server.authenticationScheme = .digest
        server.noProxy = ["*"]
        request.options.proxy = .explicit(server)
        var sharing = ConnectionSharing()
        TunnelOwners().add(to: &sharing, for: request)
        #expect(sharing.options.isEmpty)
    }

    /// Regression: over HTTP/2, requests of others became streams of such a tunnel.
    @Test(arguments: ["http://h/", "https://h/"])
    func `a tunnel with a challenge carries no other request`(url: String) throws {
        var request = TransportRequest(url: try RequestURL(url))
        var server = proxy("http://p:1", "me")
        server.authenticationScheme = .digest
        request.options.proxy = .explicit(server)
        let owners = TunnelOwners()
        var sharing = ConnectionSharing()
        owners.add(to: &sharing, for: request)
        #expect(sharing.claims.isEmpty && sharing.options.contains { $0 is LoneConnectionOption })
        // It owns nothing of the proxy.
        #expect(owners.claim(for: proxy("http://p:1", "you")) != nil)
    }

    @Test(arguments: [
        ("http://p:1", "http://p:2"), ("http://p", "http://p:80"), ("http://p:1", "https://p:1"),
        ("http://10.0.0.15:1", "http://10.0.0.16:1"), ("http://[::1]:1", "http://[::2]:1"),
    ])
    func `other credentials are another proxy`(one: String, other: String) {
        let owners = TunnelOwners()
        #expect(owners.claim(for: proxy(one, "me")) != nil)
        #expect(owners.claim(for: proxy(other, "you")) != nil)
    }

    /// Regression: a token for the proxy in a header field of its own was not compared.
    @Test func `fields are credentials too`() {
        let owners = TunnelOwners()
        #expect(owners.claim(for: proxy("http://p", fields: [.cookie: "1"])) != nil)
        #expect(owners.claim(for: proxy("http://p", fields: [.cookie: "2"])) == nil)
        #expect(owners.claim(for: proxy("http://p")) == nil)
        #expect(owners.claim(for: proxy("http://p", fields: [.cookie: "1"])) != nil)
    }

    @Test func `a password in other bytes is another password`() {
        let owners = TunnelOwners()
        #expect(owners.claim(for: proxy("http://p", "\u{E9}")) != nil)
        #expect(owners.claim(for: proxy("http://p", "e\u{301}")) == nil)
    }

    /// Requests through the environment's proxy share tunnels without a check, also with an explicit proxy at the same
    /// place.
    @Test(arguments: ["http://me:secret@p:1080", "p:1080", "http://p/"])
    func `the environment's proxy has its owner`(variable: String) {
        let owners = TunnelOwners()
        #expect(owners.claim(for: proxy("http://p", "you"), environment: [variable]) == nil)
        #expect(owners.claim(for: proxy("http://q", "you"), environment: [variable]) != nil)
        #expect(owners.claim(for: proxy("http://q", "you"), environment: ["what is this"]) == nil)
    }
}
