import CLibrary
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
