import Foundation
import NetworkCore
import NetworkTesting
import TestSupport
import Testing

@testable import CurlTransport

@Suite("Connection keys", .patience(minutes: 1))
struct ConnectionKeyTests {
    private func key(isSecure: Bool = true, _ change: (inout TransportOptions) -> Void = { _ in }) -> ConnectionKey {
        var options = TransportOptions()
        change(&options)
        let support = LibcurlSupport(
            version: LibcurlVersion(8, 14), tlsLibrary: "OpenSSL/3", features: ["HTTP2", "SSL"], protocols: ["https"],
            defaultCAFile: nil, initialisation: 0)
        return ConnectionKey(options, isSecure: isSecure, support: support)
    }

    /// What a request may differ in from another one, and share no connection with it.
    static let differences: [@Sendable (inout TransportOptions) -> Void] = [
        { _ in },
        { $0.httpVersion = .http1_1 }, { $0.httpVersion = .http1_0 }, { $0.httpVersion = .http3 },
        { $0.tls.authorities = .file("/one.pem") }, { $0.tls.authorities = .file("/ONE.pem") },
        { $0.tls.authorities = .directory("/one.pem") },
        { $0.tls.authorities = .file("/\u{E9}") }, { $0.tls.authorities = .file("/e\u{301}") },
        { $0.tls.authorities = .bytes(Data("one".utf8)) },
        { $0.tls.clientCertificate = .init(.file("/c.pem")) },
        { $0.tls.clientCertificate = .init(.file("/c.pem"), key: .file("/k.pem")) },
        { $0.tls.clientCertificate = .init(.file("/c.pem"), key: .file("/k.pem"), password: "\u{E9}") },
        { $0.tls.clientCertificate = .init(.file("/c.pem"), key: .file("/k.pem"), password: "e\u{301}") },
        { $0.tls.ciphers = "DEFAULT:AES128-SHA" }, { $0.tls.ciphers = "DEFAULT:aes128-sha" },
        { $0.tls.maximumVersion = .tls1_2 }, { $0.tls.serverName = "other.example" },
        { $0.proxy = .none }, { $0.proxy = .explicit(.init("http://127.0.0.1:1")) },
        { $0.proxy = .explicit(.init("http://127.0.0.1:1", user: "a", password: "1")) },
        { $0.proxy = .explicit(.init("http://127.0.0.1:1", user: "a", password: "2")) },
        {
            var proxy = TransportOptions.Proxy.Server("http://127.0.0.1:1")
            proxy.headerFields[HTTPField.Name("X-Key")!] = "1"
            $0.proxy = .explicit(proxy)
        },
        { $0.connection.interface = "127.0.0.2" }, { $0.connection.localPorts = 40_000...40_001 },
        { $0.connection.ipVersion = .v4 }, { $0.connection.ipVersion = .v6 },
        { $0.connection.unixSocket = .path("/s") }, { $0.connection.unixSocket = .abstract("/s") },
        { $0.names.addresses = [.init("a", port: 443, ["127.0.0.1"])] },
        { $0.names.addresses = [.init("a", port: 443, ["127.0.0.2"])] },
        { $0.names.connectTo = [.init(toHost: "b")] }, { $0.names.dnsOverHTTPS = "https://one.example/dns" },
        { $0.names.dnsOverHTTPS = "https://two.example/dns" },
        { $0.addressPolicy = .noPrivateRanges }, { $0[.tlsGroups] = "X25519" }, { $0[.tlsGroups] = "x25519" },
    ]

    @Test func `requests that differ in what makes a connection have different keys`() {
        #expect(Set(Self.differences.map { key($0) }).count == Self.differences.count)
    }

    @Test func `requests that differ in anything else have the same key`() {
        let keys: [ConnectionKey] = [
            key(), key { $0.httpVersion = .http2 }, key { $0.totalTimeout = .seconds(1) },
            key { $0.rate.maximumSentPerSecond = 1 }, key { $0.authentication = .bearer(token: "t") },
            key { $0.connection.isFresh = true }, key { $0.connection.repeatsAnyMethod = true },
            key { $0.acceptedEncodings = [.gzip] }, key { $0.requestCompression = .gzip(level: 6) },
        ]
        #expect(Set(keys).count == 1)
    }

    @Test func `a connection of one request speaks HTTP/1.1`() {
        #expect(key { $0.connection.forbidsReuse = true }.version == .http1_1)
        #expect(key().version == .http2 && key(isSecure: false).version == .http1_1)
    }
}
