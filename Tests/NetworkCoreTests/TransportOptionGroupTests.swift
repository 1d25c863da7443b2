import Foundation
import HTTPTypes
import NetworkCore
import TestSupport
import Testing

@Suite("Rarely used options")
struct TransportOptionGroupTests {
    private struct Case: Sendable, CustomTestStringConvertible {
        let words: String
        let change: @Sendable (inout TransportOptions) throws -> Void
        init(_ words: String, _ change: @escaping @Sendable (inout TransportOptions) throws -> Void) {
            self.words = words
            self.change = change
        }
        var testDescription: String { words }
    }

    /// Regression: the verdict of the time when the options were made was kept.
    @Test func `a file that becomes a pipe is refused, and the other way around`() throws {
        let path = FileManager.default.temporaryDirectory.appending(path: "ca-\(UUID().uuidString)").path
        defer { try? FileManager.default.removeItem(atPath: path) }
        var options = TransportOptions()
        options.tls.authorities = .file(path)
        try Data().write(to: URL(filePath: path))
        try options.check()
        try FileManager.default.removeItem(atPath: path)
        #expect(mkfifo(path, 0o600) == 0)
        expectFailure(.invalidOption) { try options.check() }
        options.tls.ciphers = "AES128-SHA"
        try FileManager.default.removeItem(atPath: path)
        try options.check()
    }

    private static let nonsense: [Case] = [
        Case("firstByteTimeout") { $0.firstByteTimeout = .zero },
        Case("tls.authorities") { $0.tls.authorities = .file("/a\0b") },
        Case("tls.authorities") { $0.tls.authorities = .bytes(Data()) },
        Case("tls.authorities") { $0.tls.authorities = .file("/dev/zero") },
        Case("tls.clientCertificate.certificate") { $0.tls.clientCertificate = .init(.file("/dev/tty")) },
        Case("tls.clientCertificate.key") { $0.tls.clientCertificate = .init(.file("a"), key: .file("/dev/zero")) },
        Case("tls.clientCertificate.certificate") { $0.tls.clientCertificate = .init(.file("")) },
        Case("tls.clientCertificate.key") { $0.tls.clientCertificate = .init(.file("a"), key: .file("b\n")) },
        Case("tls.clientCertificate.password") { $0.tls.clientCertificate = .init(.file("a"), password: "cret\0") },
        Case("tls.pinnedPublicKeys") { $0.tls.pinnedPublicKeys = ["sha256//short"] },
        Case("tls.pinnedPublicKeys") { $0.tls.pinnedPublicKeys = ["/a/file/to/read"] },
        Case("tls.groups") { $0.tls.groups = "3 4" }, Case("tls.groups") { $0.tls.groups = "" },
        Case("tls.signatureAlgorithms") { $0.tls.signatureAlgorithms = "a\n" },
        Case("connection.keepAlive.probes") {
            $0.connection.keepAlive = .init()
            $0.connection.keepAlive?.probes = 0
        },
        Case("connection.keepAlive.probes") {
            $0.connection.keepAlive = .init()
            $0.connection.keepAlive?.probes = 128
        },
        Case("connection.happyEyeballsDelay") { $0.connection.happyEyeballsDelay = .zero },
        Case("expectContinue") { $0.expectContinue = .zero },
        Case("connection.happyEyeballsDelay") { $0.connection.happyEyeballsDelay = .seconds(61) },
        Case("tls.maximumVersion") { $0.tls.maximumVersion = .tls1_1 },
        Case("tls.ciphers") { $0.tls.ciphers = "A B" },
        Case("tls.cipherSuites") { $0.tls.cipherSuites = "" },
        Case("tls.serverName") { $0.tls.serverName = "a/b" },
        // Regression: what followed was a fragment of the URL that libcurl got, and the path was lost.
        Case("tls.serverName") { $0.tls.serverName = "a#" }, Case("tls.serverName") { $0.tls.serverName = "a#b" },
        Case("tls.serverName") { $0.tls.serverName = "a:" }, Case("tls.serverName") { $0.tls.serverName = "u@a" },
        Case("tls.serverName") { $0.tls.serverName = "a?b" }, Case("tls.serverName") { $0.tls.serverName = "a\\b" },
        Case("proxy.url") { $0.proxy = .explicit(.init("http://p:3128#x")) },
        Case("proxy.url") { $0.proxy = .explicit(TransportOptions.Proxy.Server("ftp://a:1")) },
        Case("proxy.url") { $0.proxy = .explicit(TransportOptions.Proxy.Server("a:1")) },
        Case("proxy.url") { $0.proxy = .explicit(TransportOptions.Proxy.Server("http://m@e:cret@a:1")) },
        Case("proxy.url") { $0.proxy = .explicit(TransportOptions.Proxy.Server("http://a:1/path")) },
        Case("proxy.url") { $0.proxy = .explicit(TransportOptions.Proxy.Server("http://a:1\r\nX: y")) },
        Case("proxy.password") { $0.proxy = .explicit(TransportOptions.Proxy.Server("http://a:1", password: "cret")) },
        Case("proxy.password") {
            $0.proxy = .explicit(TransportOptions.Proxy.Server("http://a:1", user: "u", password: "cret\n"))
        },
        Case("proxy.noProxy") {
            var proxy = TransportOptions.Proxy.Server("http://a:1")
            proxy.noProxy = ["a,b"]
            $0.proxy = .explicit(proxy)
        },
        Case("proxy.user") {
            $0.proxy = .explicit(TransportOptions.Proxy.Server("http://a:1", user: "u:v", password: "cret"))
        },
        Case("proxy.url") { $0.proxy = .explicit(TransportOptions.Proxy.Server("http://u%3Av:cret@a:1")) },
        // Regression: the password went to the proxy in the clear, whatever the scheme was.
        proxyCase("proxy.authenticationScheme", "socks5://u:cret@a:1") { $0.authenticationScheme = .anySafe },
        proxyCase("proxy.authenticationScheme", "SOCKS5H://u:cret@a:1") { $0.authenticationScheme = .digest },
        proxyCase("proxy.tunnel", "socks5h://a:1") { $0.tunnel = true },
        proxyCase("proxy.headerFields", "socks4a://a:1") { $0.headerFields[.userAgent] = "x" },
        proxyCase("proxy.password", "socks4a://u:cret@a:1") { _ in },
        proxyCase("proxy.authorities", "socks5://a:1") { $0.authorities = .file("/a") },
        proxyCase("proxy.authorities", "http://a:1") { $0.authorities = .file("/a") },
        Case("connection.unixSocket") { $0.connection.unixSocket = .path(String(repeating: "a", count: 108)) },
        Case("connection.unixSocket") { $0.connection.unixSocket = .abstract("a\0") },
        Case("connection.interface") { $0.connection.interface = "eth0 " },
        Case("connection.localPorts") { $0.connection.localPorts = 0...9 },
        Case("connection.keepAlive.idle") {
            $0.connection.keepAlive = .init()
            $0.connection.keepAlive?.idle = .milliseconds(1)
        },
        Case("names.addresses") { $0.names.addresses = [.init("a", port: 1, [])] },
        Case("names.addresses") { $0.names.addresses = [.init("a", port: 1, ["127.1"])] },
        Case("names.addresses") { $0.names.addresses = [.init("a b", port: 1, ["::1"])] },
        Case("names.addresses") { $0.names.addresses = [.init("a", port: 1, ["::1%lo"])] },
        Case("names.connectTo") { $0.names.connectTo = [.init(toHost: "a:80")] },
        Case("names.connectTo") { $0.names.connectTo = [.init(toPort: 65_536)] },
        Case("names.cacheTime") { $0.names.cacheTime = .seconds(-1) },
        Case("names.dnsOverHTTPS") { $0.names.dnsOverHTTPS = "http://dns.test/" },
        Case("rate.maximumReceivedPerSecond") { $0.rate.maximumReceivedPerSecond = 0 },
        Case("rate.maximumSentPerSecond") { $0.rate.maximumSentPerSecond = -1 },
        Case("rate.lowSpeed.bytesPerSecond") { $0.rate.lowSpeed = .init(bytesPerSecond: 0, for: .seconds(1)) },
        Case("rate.lowSpeed.duration") { $0.rate.lowSpeed = .init(bytesPerSecond: 1, for: .milliseconds(1)) },
        Case("authentication.user") { $0.authentication = .basic(user: "a:b", password: "cret") },
        Case("authentication.password") { $0.authentication = .digest(user: "a", password: "cret\r\n") },
        Case("authentication.token") { $0.authentication = .bearer(token: "se cret") },
        Case("authentication.keyID") { $0.authentication = .awsSigV4(.init(keyID: "a:b", secretKey: "cret")) },
        Case("authentication.region") {
            $0.authentication = .awsSigV4(.init(keyID: "a", secretKey: "cret", service: "s3"))
        },
        Case("acceptedEncodings") { $0.acceptedEncodings = [] },
        Case("addressPolicy") {
            $0.addressPolicy = .noPrivateRanges
            $0.proxy = .explicit(TransportOptions.Proxy.Server("http://a:1"))
        },
        Case("names.addresses") {
            $0.names.addresses = [.init("a", port: 1, ["::1"])]
            $0.proxy = .explicit(TransportOptions.Proxy.Server("http://a:1"))
        },
        Case("connection.unixSocket") {
            $0.connection.unixSocket = .path("/a")
            $0.proxy = .explicit(TransportOptions.Proxy.Server("http://a:1"))
        },
    ]

    private static func proxyCase(
        _ words: String, _ url: String, _ change: @escaping @Sendable (inout TransportOptions.Proxy.Server) -> Void
    ) -> Case {
        Case(words) {
            var proxy = TransportOptions.Proxy.Server(url)
            change(&proxy)
            $0.proxy = .explicit(proxy)
        }
    }

    @Test(arguments: nonsense)
    private func `nonsense is refused by name, without its text`(nonsense: Case) throws {
        var options = TransportOptions()
        try nonsense.change(&options)
        let error = #expect(throws: NetworkError.self) { try options.check() }
        #expect(error?.code == .invalidOption)
        #expect(error?.message.hasPrefix(nonsense.words) == true, "\(error?.message ?? "")")
        #expect(error?.message.contains("cret") == false)
    }

    /// A caller can't set fields that frame the message, name its target, or control the use of the connection.
    @Test(arguments: [
        "Content-Length", "transfer-encoding", "HOST", "Connection", "Proxy-Connection", "Keep-Alive",
        "Proxy-Authorization", "TE", "Upgrade", "Expect", "Trailer", "HTTP2-Settings",
    ])
    func `a proxy gets no field of framing`(name: String) throws {
        var proxy = TransportOptions.Proxy.Server("http://a:1")
        proxy.headerFields.append(try HTTPField(checking: name, value: "x"))
        var options = TransportOptions()
        options.proxy = .explicit(proxy)
        let error = #expect(throws: NetworkError.self) { try options.check() }
        #expect(error?.code == .invalidOption)
        #expect(error?.message.hasPrefix("proxy.headerFields") == true)
        #expect(error?.message.contains(name) == true)
    }

    private static let groups: [(TransportCapabilities.Capability, Case)] = [
        (.firstByteTimeout, Case("firstByteTimeout") { $0.firstByteTimeout = .seconds(1) }),
        (.tlsOptions, Case("tls") { $0.tls.minimumVersion = .tls1_3 }),
        (.authoritiesInMemory, Case("tls bytes") { $0.tls.authorities = .bytes(Data("x".utf8)) }),
        (
            .clientCertificateInMemory,
            Case("certificate") { $0.tls.clientCertificate = .init(.bytes(Data("x".utf8))) }
        ),
        (.proxyOptions, Case("no proxy") { $0.proxy = .none }),
        (.httpsProxies, Case("https proxy") { $0.proxy = .explicit(TransportOptions.Proxy.Server("https://a:1")) }),
        (.connectionOptions, Case("connection") { $0.connection.isFresh = true }),
        (.unixSockets, Case("unix") { $0.connection.unixSocket = .path("/a") }),
        (.tlsGroups, Case("groups") { $0.tls.groups = "X25519" }),
        (.tlsSignatureAlgorithms, Case("algorithms") { $0.tls.signatureAlgorithms = "ed25519" }),
        (
            .keepAliveProbes,
            Case("probes") {
                $0.connection.keepAlive = .init()
                $0.connection.keepAlive?.probes = 3
            }
        ),
        (.nameOptions, Case("names") { $0.names.cacheTime = .zero }),
        (.rateOptions, Case("rate") { $0.rate.maximumSentPerSecond = 1 }),
        (.addressPolicy, Case("policy") { $0.addressPolicy = .noPrivateRanges }),
        (.digestAuthentication, Case("digest") { $0.authentication = .digest(user: "a", password: "b") }),
        (.awsSigV4, Case("aws") { $0.authentication = .awsSigV4(.init(keyID: "a", secretKey: "b")) }),
        (.expectContinue, Case("expectContinue") { $0.expectContinue = .seconds(1) }),
        (.brotli, Case("br") { $0.acceptedEncodings = [.brotli] }),
        (.zstd, Case("zstd") { $0.acceptedEncodings = [.zstd] }),
    ]

    @Test(arguments: groups)
    private func `a transport without an option refuses it before sending`(
        capability: TransportCapabilities.Capability, group: Case
    )
        throws
    {
        var request = TransportRequest(url: try RequestURL("http://a/"))
        try group.change(&request.options)
        let others = Set(TransportCapabilities.Capability.wellKnown).subtracting([capability])
        let error = #expect(throws: NetworkError.self) {
            try request.check(for: TransportCapabilities(transport: "t", basis: "", supported: others))
        }
        #expect(error?.code == .unsupported)
        #expect(error?.message.contains(capability.rawValue) == true)
        try request.check(for: TransportCapabilities(transport: "t", basis: "", supported: others.union([capability])))
    }

    @Test func `defaults are the same, however they were reached`() {
        var options = TransportOptions()
        options.tls.serverName = "a"
        #expect(options != TransportOptions())
        options.tls.serverName = nil
        #expect(options == TransportOptions())
        #expect(options.hashValue == TransportOptions().hashValue)
    }

    @Test func `secrets are in no description and no dump`() {
        var options = TransportOptions()
        options.authentication = .digest(user: "me", password: "cret")
        options.proxy = .explicit(TransportOptions.Proxy.Server("http://a:1", user: "u", password: "cret"))
        options.tls.clientCertificate = .init(.bytes(Data("cret".utf8)), password: "cret")
        var dumped = ""
        dump(options, to: &dumped)
        let aws = TransportOptions.Authentication.awsSigV4(.init(keyID: "a", secretKey: "cret"))
        for text in ["\(options)", String(reflecting: options), dumped, "\(aws)", "\(options.tls)", "\(options.proxy)"]
        {
            #expect(!text.contains("cret\""))
            #expect(!text.contains("\"cret"))
            #expect(!text.contains(" cret"))
        }
    }

    @Test func `Basic and Bearer are a header field, and exclude the caller's own`() throws {
        var request = TransportRequest(url: try RequestURL("http://a/"))
        let nothing = TransportCapabilities(transport: "t", basis: "", supported: [])
        request.options.authentication = .basic(user: "ü", password: "p:q")
        #expect(request.wireFields[.authorization] == "Basic w7w6cDpx")
        try request.check(for: nothing)
        request.options.authentication = .bearer(token: "abc")
        #expect(request.wireFields[.authorization] == "Bearer abc")
        request.headerFields[.authorization] = "mine"
        let error = #expect(throws: NetworkError.self) { try request.check(for: nothing) }
        #expect(error?.code == .invalidOption)
    }

    @Test func `a server name needs TLS`() throws {
        var request = TransportRequest(url: try RequestURL("http://a/"))
        request.options.tls.serverName = "b"
        let all = TransportCapabilities(
            transport: "t", basis: "", supported: Set(TransportCapabilities.Capability.wellKnown))
        #expect(throws: NetworkError.self) { try request.check(for: all) }
    }
}
