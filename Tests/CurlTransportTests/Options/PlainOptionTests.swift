import CLibrary
import Foundation
import NetworkCore
import NetworkTesting
import TestSupport
import Testing

@testable import CurlTransport

/// The options that are declared in one place. A new one is checked here without a further line, apart from its effect.
@Suite("Plain options", .patience(minutes: 1))
struct PlainOptionTests {
    /// Over each libcurl of `scripts/matrix`, this also checks the versions.
    @Test(arguments: PlainOptions.all.indices)
    func `a declaration agrees with what libcurl lists`(index: Int) {
        let option = PlainOptions.all[index]
        #expect(option.libcurlKey.isListed == (Libcurl.found.has(option) ? true : nil))
    }

    /// A value of each option, in the order of ``PlainOptions/all``.
    private static let samples: [@Sendable (inout TransportOptions) -> Void] = [
        { $0[.keepAliveProbes] = 3 }, { $0[.happyEyeballsDelay] = .milliseconds(3) }, { $0[.tlsGroups] = "3" },
        { $0[.tlsSignatureAlgorithms] = "3" },
    ]

    @Test(arguments: PlainOptions.all.indices)
    func `an option is applied, or refused before anything is sent`(index: Int) async throws {
        let option = PlainOptions.all[index]
        let sample = try #require(Self.samples.indices.contains(index) ? Self.samples[index] : nil)
        try await withServer(.ok("x")) { server async throws in
            if Libcurl.found.has(option) {
                #expect(try await Exchange(server.url(), options: sample).text == "x")
            } else {
                let error = await expectFailure(.unsupported) { try await Exchange(server.url(), options: sample) }
                #expect(error?.message.contains("\(option.since)") == true)
                #expect(server.connectionCount == 0)
            }
        }
    }

    @Test(.enabled(if: Libcurl.found.has(PlainOptions.all[0]), "from libcurl 8.9"))
    func `the number of probes is the socket's`() async throws {
        let probes = try await ConnectionOptionTests.socketOption(Int32(TCP_KEEPCNT), level: Int32(IPPROTO_TCP)) {
            $0[.keepAliveProbes] = 7
        }
        #expect(probes == [7])
    }

    @Test(
        arguments: [
            { $0[.tlsGroups] = "3 4" }, { $0[.tlsGroups] = "" }, { $0[.tlsGroups] = "a\n" },
            { $0[.tlsSignatureAlgorithms] = "3 4" }, { $0[.tlsSignatureAlgorithms] = "" },
            { $0[.tlsSignatureAlgorithms] = "a\n" }, { $0[.keepAliveProbes] = 0 }, { $0[.keepAliveProbes] = 128 },
            { $0[.keepAliveProbes] = .min }, { $0[.keepAliveProbes] = .max }, { $0[.happyEyeballsDelay] = .zero },
            { $0[.happyEyeballsDelay] = .seconds(61) }, { $0[.happyEyeballsDelay] = .seconds(Int64.max) },
        ] as [@Sendable (inout TransportOptions) -> Void])
    func `a list has visible characters alone, and a number its range`(
        change: @Sendable (inout TransportOptions) -> Void
    ) {
        var options = TransportOptions()
        change(&options)
        #expect(throws: NetworkError.self) { try options.check() }
    }

    @Test func `the last value counts, and nil is the default`() {
        var options = TransportOptions()
        options[.tlsGroups] = "X25519"
        options[.tlsGroups] = "P-256"
        #expect(options[.tlsGroups] == "P-256")
        #expect(options != TransportOptions())
        options[.tlsGroups] = nil
        #expect(options == TransportOptions() && options.hashValue == TransportOptions().hashValue)
    }

    @Test func `the other transport refuses it by name`() {
        let error = expectFailure(.unsupported) {
            try makeRequest("http://127.0.0.1/") { $0[.happyEyeballsDelay] = .milliseconds(50) }
                .check(for: TransportCapabilities(transport: "other", basis: "", supported: []))
        }
        #expect(error?.message.contains("happyEyeballsDelay") == true)
    }
}

/// Checks that extreme values that the option check accepts do not end the process further down.
@Suite("Extreme option values over curl", .patience(minutes: 2))
struct ExtremeOptionTests {
    private struct Option: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let set: @Sendable (inout TransportOptions) -> Void

        init(_ name: String, _ set: @escaping @Sendable (inout TransportOptions) -> Void) {
            testDescription = name
            self.set = set
        }

        /// Sets all timeouts.
        init(_ name: String, timeouts time: Duration?) {
            self.init(name) {
                ($0.connectTimeout, $0.idleTimeout, $0.totalTimeout, $0.firstByteTimeout) = (time, time, time, time)
            }
        }
    }

    private static let year = TransportOptions.maximumTimeout

    private static let options: [Option] = [
        Option("year", timeouts: year), Option("no timeouts", timeouts: nil),
        Option("largest body") { $0.maximumBodyBytes = .max },
        Option("cache") { $0.names.cacheTime = year },
        Option("no cache") { $0.names.cacheTime = .nanoseconds(1) },
        Option("highest rates") { options in
            (options.rate.maximumReceivedPerSecond, options.rate.maximumSentPerSecond) = (1 << 40, 1 << 40)
            options.rate.lowSpeed = .init(bytesPerSecond: 1, for: .seconds(86_400))
        },
        // The response has to arrive within the time.
        Option("highest low speed") { $0.rate.lowSpeed = .init(bytesPerSecond: 1 << 40, for: .milliseconds(29_999)) },
        Option("keep-alive") { options in
            var keepAlive = TransportOptions.Connection.KeepAlive()
            (keepAlive.idle, keepAlive.interval) = (.seconds(32_767), .milliseconds(1_001))
            options.connection.keepAlive = keepAlive
        },
    ]

    @Test(arguments: options) private func `an extreme value that is accepted works`(option: Option) async throws {
        try await withServer(.ok()) { server in
            let request = try makeRequest(server.url(), options: option.set)
            try request.options.check()
            let response = try await CurlNetworkDispatcher().send(request)
            #expect(response.head.status == .ok)
            _ = try await response.body.collect(upTo: .max)
        }
    }

    @Test(arguments: [0, 1, -1, .max, .min] as [Int])
    func `an extreme limit of a dispatcher is accepted`(limit: Int) async throws {
        try await withServer(.ok(), .ok()) { server async throws in
            let curl = CurlNetworkDispatcher {
                ($0.maximumConnections, $0.maximumConnectionsPerOrigin, $0.loops) = (limit, limit, limit)
                // A queue without places has no room for a request that must wait.
                $0.maximumQueued = max(1, limit)
            }
            #expect(try await Exchange(server.url(), over: curl).status == 200)
        }
    }

    /// Regression: a resolver's loop has more connections than the limit, and their sum trapped.
    @Test(
        .enabled(if: Libcurl.found.version >= LibcurlVersion(7, 88, 1), "over HTTPS from libcurl 7.88.1 on"),
        arguments: [1, .max, .min, Int(Int32.max)] as [Int])
    func `an extreme limit is accepted with names looked up over HTTPS`(limit: Int) async throws {
        try await withServer([.close]) { names in
            let curl = CurlNetworkDispatcher {
                ($0.maximumConnections, $0.maximumConnectionsPerOrigin, $0.maximumQueued) = (limit, limit, limit)
            }
            await #expect(throws: NetworkError.self) {
                try await Exchange("http://unknown.example/", over: curl) { $0.lookUp(at: names) }
            }
        }
    }
}
