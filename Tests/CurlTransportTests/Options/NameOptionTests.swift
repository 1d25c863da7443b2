import Foundation
import NetworkCore
import NetworkTesting
import TestSupport
import Testing

@testable import CurlTransport

@Suite("Name resolution options", .patience(minutes: 1))
struct NameOptionTests {
    @Test func `static addresses serve their request alone`() async throws {
        try await withServer(.ok("x")) { server in
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
    }

    /// Regression: without a cache, libcurl looked the pinned name up.
    @Test(arguments: [0, 1])
    func `pinned addresses do not expire`(seconds: Int) async throws {
        try await withServer(.ok("x")) { server in
            let exchange = try await OptionExchange("http://known.invalid:\(server.port)/") {
                $0.names.addresses = [.init("known.invalid", port: Int(server.port), ["127.0.0.1"])]
                $0.names.cacheTime = .seconds(seconds)
            }
            #expect(exchange.text == "x")
        }
    }

    /// Regression: libcurl read no entry with a name of more than 255 bytes.
    @Test func `five addresses in long notation are pinned`() async throws {
        try await withServer(.ok("x")) { server in
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
        }
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

    @Test(.enabled(if: looksUpOverHTTPS))
    func `lookups over HTTPS use the environment's proxy only`() throws {
        var options = TransportOptions()
        options.names.dnsOverHTTPS = "https://127.0.0.1/dns-query"
        #expect(throws: Never.self) {
            try NameOption.check(options, environmentNamesProxy: true)
        }
        var others = Array(repeating: options, count: 4)
        others[3].names.addresses = [.init("other.invalid", port: 80, ["127.0.0.1"])]
        others[0].proxy = .none
        others[1].proxy = .explicit(TransportOptions.Proxy.Server("http://127.0.0.1:1"))
        others[2].addressPolicy = .noPrivateRanges
        for other in others {
            let error = #expect(throws: NetworkError.self) {
                try NameOption.check(other, environmentNamesProxy: true)
            }
            #expect(error?.code == .unsupported)
            #expect(throws: Never.self) {
                try NameOption.check(other, environmentNamesProxy: false)
            }
        }
    }

    @Test func `the first rule that fits says where to connect`() async throws {
        try await withServer(.ok("x")) { server in
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
    }
}
