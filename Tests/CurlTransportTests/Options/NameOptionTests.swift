import Foundation
import NetworkCore
import NetworkTesting
import TestSupport
import Testing

@testable import CurlTransport

@Suite("Name resolution options", .patience(minutes: 1))
struct NameOptionTests {
    private let dispatcher = CurlNetworkDispatcher()

    /// Sends a request to a name that is nowhere but in the request.
    private func exchange(
        _ port: UInt16, at addresses: [String] = ["127.0.0.1"],
        _ change: (inout TransportOptions) -> Void = { _ in }
    ) async throws -> Exchange {
        try await Exchange("http://known.invalid:\(port)/", over: dispatcher) {
            $0.names.addresses = [.init("Known.invalid", port: Int(port), addresses)]
            change(&$0)
        }
    }

    @Test func `static addresses serve their request alone`() async throws {
        try await withServer(.ok("x")) { server async throws in
            #expect(try await exchange(server.port, at: ["::1", "127.0.0.1"]).text == "x")
            #expect(server.requests.first?.values(of: "Host") == ["known.invalid:\(server.port)"])
            // Neither the name cache nor the kept connection serves a request without these addresses.
            await expectFailure(.nameNotResolved) { try await exchange(server.port) { $0.names.addresses = [] } }
            #expect(try await exchange(server.port, at: ["::1", "127.0.0.1"]).metrics.connectionReused == true)
        }
    }

    /// Regression: without a cache, libcurl looked the pinned name up.
    @Test(arguments: [0, 1])
    func `pinned addresses do not expire`(seconds: Int) async throws {
        try await withServer(.ok("x")) { server async throws in
            #expect(try await exchange(server.port) { $0.names.cacheTime = .seconds(seconds) }.text == "x")
        }
    }

    @Test func `shuffled addresses begin with any of them, and others with the first`() async throws {
        let all = (1...5).map { "127.0.0.1\($0)" }
        var firsts: [Bool: Set<String>] = [:]
        for number in 0..<24 {
            let (log, shuffles) = (Recorder(), number % 2 == 0)
            await expectFailure(.connectFailed) {
                try await Exchange("http://known.invalid:1/", over: CurlNetworkDispatcher()) {
                    $0.names.addresses = [.init("known.invalid", port: 1, all)]
                    $0.names.shufflesAddresses = shuffles
                    $0.wireLog = WireLog(log.logger)
                }
            }
            let first = try #require(log.all.first { $0.contains("Trying ") })
            firsts[shuffles, default: []].formUnion(all.filter { first.contains($0) })
        }
        #expect(firsts[false] == ["127.0.0.11"] && (firsts[true]?.count ?? 0) > 1)
    }

    /// Regression: libcurl read no entry with a name of more than 255 bytes.
    @Test func `five addresses in long notation are pinned`() async throws {
        try await withServer(.ok("x")) { server async throws in
            let long = (1...5).map { "0000:0000:0000:0000:0000:ffff:127.100.100.10\($0)" }
            await expectFailure(.connectFailed) { try await exchange(server.port, at: long) }
            #expect(try await exchange(server.port, at: long.dropLast() + ["127.0.0.1"]).text == "x")
        }
    }

    /// Regression: the end of a request without a cache removed another one's addresses, and libcurl looked the pinned
    /// name up for the repeat.
    @Test func `a repeat uses the pinned addresses, whatever else ends meanwhile`() async throws {
        let (asked, gate) = (Gate(), Gate())
        try await withServer(
            [.read, .ok("x"), .read, .open(asked), .wait(until: gate), .close], .ok("again")
        ) { server in
            #expect(try await exchange(server.port).text == "x")
            async let second = exchange(server.port).text
            try await asked.wait()
            try await withServer(.ok("other")) { other in
                _ = try await Exchange(other.url(), over: dispatcher) { $0.names.cacheTime = .zero }
            }
            gate.open()
            #expect(try await second == "again")
        }
    }

    /// Regression: libcurl looked the pinned name up where no address was of the wanted version.
    @Test(arguments: [("127.0.0.1", TransportOptions.Connection.IPVersion.v6), ("::1", .v4)])
    func `pinned addresses of the other IP version are none`(
        address: String, version: TransportOptions.Connection.IPVersion
    ) async throws {
        let error = await expectFailure(.nameNotResolved) {
            try await exchange(1, at: [address]) { $0.connection.ipVersion = version }
        }
        #expect(error.map { "\($0)".contains("names.addresses") } == true)
    }

    @Test(
        .enabled(if: looksUpOverHTTPS),
        arguments: [
            nil, { $0.proxy = .none }, { $0.proxy = .server("http://127.0.0.1:1") },
            { $0.addressPolicy = .noPrivateRanges },
            { $0.names.addresses = [.init("other.invalid", port: 80, ["127.0.0.1"])] },
        ] as [(@Sendable (inout TransportOptions) -> Void)?])
    func `lookups over HTTPS use the environment's proxy only`(
        change: (@Sendable (inout TransportOptions) -> Void)?
    ) throws {
        var options = TransportOptions()
        options.names.dnsOverHTTPS = "https://127.0.0.1/dns-query"
        change?(&options)
        if change == nil {
            try NameOption.check(options, environmentNamesProxy: true)
        } else {
            expectFailure(.unsupported) { try NameOption.check(options, environmentNamesProxy: true) }
            try NameOption.check(options, environmentNamesProxy: false)
        }
    }

    @Test func `the first rule that fits says where to connect`() async throws {
        try await withServer(.ok("x")) { server in
            let exchange = try await Exchange("http://elsewhere.invalid/") {
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
