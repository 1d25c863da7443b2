import Foundation
import NetworkCore
import NetworkTesting
import TestSupport
import Testing

@testable import CurlTransport

@Suite("Name resolution options", .patience(minutes: 1))
struct NameOptionTests {
    @Test func `static addresses serve their request alone`() async throws {
        let server = try ScriptedServer(.ok("x"))
        defer { server.stop() }
        let dispatcher = CurlNetworkDispatcher()
        let url = "http://known.invalid:\(server.port)/"
        let known = TransportOptions.Names.StaticAddresses(
            "Known.invalid", port: Int(server.port), ["::1", "127.0.0.1"])
        let exchange = try await OptionExchange(url, over: dispatcher) { $0.names.addresses = [known] }
        #expect(exchange.text == "x")
        #expect(server.requests.first?.values(of: "Host") == ["known.invalid:\(server.port)"])
        // Neither the name cache nor the kept connection serves a request without these addresses.
        await expectFailure(.nameNotResolved) { try await OptionExchange(url, over: dispatcher) }
        let again = try await OptionExchange(url, over: dispatcher) { $0.names.addresses = [known] }
        #expect(again.metrics.connectionReused == true)
    }

    /// Regression: without a cache, libcurl looked the pinned name up.
    @Test(arguments: [0, 1])
    func `pinned addresses do not expire`(seconds: Int) async throws {
        let server = try ScriptedServer(.ok("x"))
        defer { server.stop() }
        let exchange = try await OptionExchange("http://known.invalid:\(server.port)/") {
            $0.names.addresses = [.init("known.invalid", port: Int(server.port), ["127.0.0.1"])]
            $0.names.cacheTime = .seconds(seconds)
        }
        #expect(exchange.text == "x")
    }

    /// Regression: libcurl read no entry with a name of more than 255 bytes.
    @Test func `five addresses in long notation are pinned`() async throws {
        let server = try ScriptedServer(.ok("x"))
        defer { server.stop() }
        let long = (1...5).map { "0000:0000:0000:0000:0000:ffff:127.100.100.10\($0)" }
        let port = Int(server.port)
        await expectFailure(.connectFailed) {
            try await OptionExchange("http://known.invalid:\(port)/") {
                $0.names.addresses = [.init("known.invalid", port: port, long)]
            }
        }
        let exchange = try await OptionExchange("http://known.invalid:\(port)/") {
            $0.names.addresses = [.init("known.invalid", port: port, long.dropLast() + ["127.0.0.1"])]
        }
        #expect(exchange.text == "x")
        #expect(PinnedName.name(for: long) != PinnedName.name(for: long.reversed()))
    }

    /// Regression: the end of a request without a cache removed another one's addresses, and libcurl looked the pinned
    /// name up for the repeat.
    @Test func `a repeat uses the pinned addresses, whatever else ends meanwhile`() async throws {
        let (asked, gate) = (Gate(), Gate())
        let first = Script.head(200, fields: [("Content-Length", "1")]) + Data("x".utf8)
        let server = try ScriptedServer(
            [.read, .send(first), .read, .open(asked), .wait(until: gate), .close], .ok("again"))
        let other = try ScriptedServer(.ok("other"))
        defer { for server in [server, other] { server.stop() } }
        let dispatcher = CurlNetworkDispatcher()
        let (url, port) = ("http://known.invalid:\(server.port)/", Int(server.port))
        @Sendable func pinned() async throws -> String {
            try await OptionExchange(url, over: dispatcher) {
                $0.names.addresses = [.init("known.invalid", port: port, ["127.0.0.1"])]
            }.text
        }
        #expect(try await pinned() == "x")
        async let second = pinned()
        try await asked.wait()
        _ = try await OptionExchange(other.url(), over: dispatcher) { $0.names.cacheTime = .zero }
        gate.open()
        #expect(try await second == "again")
    }

    /// Regression: libcurl looked the pinned name up where no address was of the wanted version.
    @Test(arguments: [("127.0.0.1", TransportOptions.Connection.IPVersion.v6), ("::1", .v4)])
    func `pinned addresses of the other IP version are none`(
        address: String, version: TransportOptions.Connection.IPVersion
    ) async throws {
        let error = await expectFailure(.nameNotResolved) {
            try await OptionExchange("http://known.invalid:1/") {
                $0.names.addresses = [.init("known.invalid", port: 1, [address])]
                $0.connection.ipVersion = version
            }
        }
        #expect(error.map { "\($0)".contains("names.addresses") } == true)
    }

    /// When a connection fails, libcurl's text contains the name that it tried.
    @Test func `the pinned name is a secret in every text`() async throws {
        let server = try ScriptedServer(.ok("x"))
        defer { server.stop() }
        let log = CanaryLog()
        for port in [1, Int(server.port)] {
            var request = TransportRequest(url: try RequestURL("http://known.invalid:\(port)/"))
            request.options.names.addresses = [.init("known.invalid", port: port, ["127.0.0.1"])]
            request.options.wireLog = WireLog(log.logger)
            do {
                _ = try await CurlNetworkDispatcher().send(request).body.collect()
            } catch let error as NetworkError {
                let text = "\(error) \(error.underlying?.message ?? "") \(String(reflecting: error))"
                #expect(text.contains("127-0-0-1") && !text.contains(PinnedName.secret), "\(text)")
            }
        }
        #expect(log.text.contains("127-0-0-1") && !log.text.contains(PinnedName.secret))
    }

    /// libcurl truncates its texts at 255 bytes, at any position.
    @Test func `a cut name shows nothing of its secret`() {
        let name = PinnedName.name(for: ["127.0.0.1", "::1"])
        let text = "Could not resolve host: \(name) (\(name.uppercased()); \(name)"
        for count in 0...text.count {
            let shown = PinnedName.hidden(in: String(text.prefix(count)))
            #expect(!shown.lowercased().contains(PinnedName.secret.prefix(3)), "\(shown)")
        }
        #expect(PinnedName.hidden(in: "host \(name) port 1") == "host 127-0-0-1.xx1 port 1")
        #expect(PinnedName.hidden(in: "a text of other things") == "a text of other things")
    }

    private static let lastAddresses = [
        "::ffff:", "0:0:0:0:0:ffff:", "0000:0000:0:0:0:ffff:", "0000:0000:0000:0000:0000:ffff:",
    ].flatMap { start in ["127.0.0.1", "127.0.0.100", "127.0.100.100", "127.100.100.100"].map { start + $0 } }

    /// Long addresses move the cut through each position of the name.
    @Test(arguments: lastAddresses)
    func `a text that libcurl cuts shows nothing of the secret`(last: String) async throws {
        let long = "0000:0000:0000:0000:0000:ffff:127.100.100.100"
        var request = TransportRequest(url: try RequestURL("http://pinned.test:1/"))
        let addresses = Array(repeating: long, count: 3) + ["0:0:0:0:0:ffff:127.0.0.1", last]
        request.options.names.addresses = [.init("pinned.test", port: 1, addresses)]
        let log = CanaryLog()
        request.options.wireLog = WireLog(log.logger)
        let sent = request
        let error = await #expect(throws: NetworkError.self) {
            try await CurlNetworkDispatcher().send(sent).body.collect()
        }
        for text in [String(describing: error), log.text] {
            // Fewer digits may be a port's.
            #expect(!text.contains(PinnedName.secret.prefix(6)) && !text.contains("nl-pinned-"), "\(text)")
        }
    }

    /// A request that knows the name can't use it either.
    @Test func `the pinned name is refused in a URL`() async throws {
        for host in [PinnedName.name(for: ["127.0.0.1"]), PinnedName.name(for: ["127.0.0.1"]).uppercased()] {
            await expectFailure(.invalidURL) { try await OptionExchange("http://\(host):1/") }
            await expectFailure(.invalidURL) {
                try await OptionExchange("http://elsewhere.invalid/") { $0.names.connectTo = [.init(toHost: host)] }
            }
        }
    }

    @Test func `lookups over HTTPS use the environment's proxy only`() throws {
        var options = TransportOptions()
        options.names.dnsOverHTTPS = "https://127.0.0.1/dns-query"
        let support = Self.support(LibcurlVersion(7, 88, 1))
        #expect(throws: Never.self) {
            try NameOption.check(options, environmentNamesProxy: true, support: support)
        }
        var others = Array(repeating: options, count: 4)
        others[3].names.addresses = [.init("other.invalid", port: 80, ["127.0.0.1"])]
        others[0].proxy = .none
        others[1].proxy = .explicit(TransportOptions.Proxy.Server("http://127.0.0.1:1"))
        others[2].addressPolicy = .noPrivateRanges
        for other in others {
            let error = #expect(throws: NetworkError.self) {
                try NameOption.check(other, environmentNamesProxy: true, support: support)
            }
            #expect(error?.code == .unsupported)
            #expect(throws: Never.self) {
                try NameOption.check(other, environmentNamesProxy: false, support: support)
            }
        }
    }

    /// Regression: over libcurl 7.74, whose log a tunnel needs, the path and query of the lookups went to standard
    /// error.
    @Test(arguments: [(LibcurlVersion(7, 74), false), (LibcurlVersion(7, 75), true)])
    func `lookups over HTTPS are refused where libcurl would print them`(version: LibcurlVersion, isPossible: Bool) {
        var options = TransportOptions()
        options.names.dnsOverHTTPS = "https://127.0.0.1/dns-query?key=s3cret"
        options.proxy = .explicit(TransportOptions.Proxy.Server("http://127.0.0.1:1"))
        let verdict = Result {
            try NameOption.check(options, environmentNamesProxy: false, support: Self.support(version))
        }
        if case .failure(let error) = verdict {
            #expect(!isPossible && (error as? NetworkError)?.code == .unsupported)
        } else {
            #expect(isPossible)
        }
    }

    private static func support(_ version: LibcurlVersion) -> LibcurlSupport {
        LibcurlSupport(
            version: version, tlsLibrary: "OpenSSL/3", features: ["SSL"], protocols: ["https"], defaultCAFile: nil,
            initialisation: 0)
    }

    @Test func `the first rule that fits says where to connect`() async throws {
        let server = try ScriptedServer(.ok("x"))
        defer { server.stop() }
        let exchange = try await OptionExchange("http://elsewhere.invalid/") {
            $0.names.connectTo = [
                .init("other.invalid", toHost: "127.0.0.1", toPort: 1),
                .init(port: 81, toHost: "127.0.0.1", toPort: 1),
                .init("elsewhere.invalid", port: 80, toHost: "127.0.0.1", toPort: Int(server.port)),
                .init(toHost: "127.0.0.1", toPort: 1),
            ]
        }
        #expect(exchange.text == "x")
        #expect(server.requests.first?.values(of: "Host") == ["elsewhere.invalid"])
    }

    @Test func `a name stands for its addresses and no others`() {
        let name = PinnedName.name(for: ["127.0.0.1", "::1"])
        #expect(name.hasPrefix("127-0-0-1.xx1.") && name.hasSuffix(".static.invalid"))
        // The part between them is the process's own secret: 128 bits in a base-36 alphabet.
        let secret = name.split(separator: ".")[2]
        #expect(secret.count >= 20)
        #expect(PinnedName.name(for: ["FE80::1"]) == "fe80xx1.\(secret).static.invalid")
    }
}
