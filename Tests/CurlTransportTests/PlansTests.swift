import Foundation
import Logging
import NetworkCore
import NetworkTesting
import TestSupport
import Testing

@testable import CurlTransport

/// What requests with one plan share was found for the first of them alone.
@Suite("Plans")
struct PlansTests {
    private static let loop = Result { try CurlLoop(limits: LoopLimits()) }

    private static func request(
        _ url: String = "http://a.test/", _ change: (inout TransportOptions) -> Void = { _ in }
    ) throws -> TransportRequest {
        var options = TransportOptions()
        change(&options)
        return TransportRequest(url: try RequestURL(url), options: options)
    }

    /// Returns the plan of a request, and whether it was made for it.
    private static func plan(of request: TransportRequest, in plans: Plans) throws -> (plan: Plan, isNew: Bool) {
        var isNew = false
        let loop = try loop.get()
        let entry = try plans.plan(for: request) {
            isNew = true
            let origin = Origin(request.url, request.options)
            let plan = Plan(request, origin: origin, clock: loop.clock, trustsAnyServer: false)
            return Plans.Entry(plan: plan, loop: loop)
        }
        return (entry.plan, isNew)
    }

    @Test func `requests that differ in what a plan says have plans of their own`() throws {
        let plans = Plans()
        let log = WireLog(Logger(label: "plans") { _ in SwiftLogNoOpLogHandler() })
        let others = [
            try Self.request("https://a.test/"), try Self.request("http://b.test/"),
            try Self.request("http://a.test:81/"),
            try Self.request { $0.httpVersion = .http1_0 }, try Self.request { $0.connectTimeout = .seconds(3) },
            try Self.request { $0.connectTimeout = nil }, try Self.request { $0.wireLog = log },
            try Self.request { $0.tls.minimumVersion = .tls1_3 }, try Self.request { $0.proxy = .none },
            try Self.request { $0.authentication = .basic(user: "user", password: "secret") },
            try Self.request { $0.connection.forbidsReuse = true }, try Self.request { $0.acceptedEncodings = [.gzip] },
        ]
        let first = try Self.plan(of: Self.request(), in: plans)
        #expect(first.isNew)
        for request in others {
            #expect(try Self.plan(of: request, in: plans).isNew, "\(request.url) \(request.options)")
            // Also as the one that was asked for last.
            #expect(try !Self.plan(of: request, in: plans).isNew)
        }
        let again = try Self.plan(of: Self.request("http://a.test/other?q"), in: plans)
        #expect(again.plan === first.plan)
    }

    @Test func `options that are changed are others`() throws {
        let plans = Plans()
        var request = try Self.request { $0.proxy = .explicit(.init("http://proxy.test:1")) }
        let first = try Self.plan(of: request, in: plans)
        request.options.tls.pinnedPublicKeys = ["sha256//AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="]
        let second = try Self.plan(of: request, in: plans)
        #expect(second.isNew && first.plan.key != second.plan.key)
    }

    /// The timeouts and limits are the request's own, whatever the plan's first request had.
    @Test func `limits of another request do not count`() throws {
        let plans = Plans()
        let plan = try Self.plan(of: Self.request { $0.totalTimeout = .seconds(1) }, in: plans).plan
        let other = try Self.request { $0.totalTimeout = .seconds(9) }
        #expect(try !Self.plan(of: other, in: plans).isNew)
        #expect(!plan.hasLimits(of: other.options))
        #expect(plan.hasLimits(of: try Self.request { $0.totalTimeout = .seconds(1) }.options))
    }

    /// A program may read its authorities anew for each request.
    @Test func `few groups of options are kept`() throws {
        let plans = Plans()
        weak var first: Plan?
        for number in 0..<200 {
            let plan = try Self.plan(
                of: Self.request { $0.tls.authorities = .bytes(Data(repeating: 0x41, count: 1_000 + number)) },
                in: plans
            ).plan
            if number == 0 { first = plan }
        }
        #expect(first == nil)
    }
}

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
        { $0.names.dnsOverHTTPS = "https://two.example/dns" }, { $0.names.shufflesAddresses = true },
        { $0.addressPolicy = .noPrivateRanges }, { $0.tls.groups = "X25519" }, { $0.tls.groups = "x25519" },
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
