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
        try await withServer(.ok("x")) { server in
            if Libcurl.found.has(option) {
                let text = try await OptionExchange(server.url(), options: sample).text
                #expect(text == "x")
            } else {
                let error = await expectFailure(.unsupported) {
                    try await OptionExchange(server.url(), options: sample)
                }
                #expect(error?.message.contains("\(option.since)") == true)
                #expect(server.connectionCount == 0)
            }
        }
    }

    @Test(arguments: ["3 4", "", "a\n"]) func `a list has visible characters alone`(text: String) {
        for key in [TransportOptions.Key<String>.tlsGroups, .tlsSignatureAlgorithms] {
            var options = TransportOptions()
            options[key] = text
            #expect(throws: NetworkError.self) { try options.check() }
        }
    }

    @Test(.enabled(if: Libcurl.found.has(PlainOptions.all[0]), "from libcurl 8.9"))
    func `the number of probes is the socket's`() async throws {
        let (asked, answer) = (Gate(), Gate())
        try await withServer([
            .read, .open(asked), .wait(until: answer), .send(Script.head(204, fields: [])),
        ]) { server in
            let url = server.url()
            let exchange = Task { try await OptionExchange(url) { $0[.keepAliveProbes] = 7 } }
            try await asked.wait()
            #expect(try Self.probes(towards: Int(server.port)) == [7])
            answer.open()
            #expect(try await exchange.value.status == 204)
        }
    }

    /// Returns TCP_KEEPCNT of this process's sockets that are connected to a port.
    private static func probes(towards port: Int) throws -> [Int32] {
        try OwnSockets.connected(to: [port]).compactMap {
            OwnSockets.option(Int32(TCP_KEEPCNT), level: Int32(IPPROTO_TCP), of: $0)
        }
    }

    @Test func `a number has a range`() {
        for probes in [0, 128, Int.min, .max] {
            var options = TransportOptions()
            options[.keepAliveProbes] = probes
            #expect(throws: NetworkError.self) { try options.check() }
        }
        for delay in [Duration.zero, .seconds(61), .seconds(Int64.max)] {
            var options = TransportOptions()
            options[.happyEyeballsDelay] = delay
            #expect(throws: NetworkError.self) { try options.check() }
        }
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

    @Test func `the other transport refuses it by name`() async throws {
        var options = TransportOptions()
        options[.happyEyeballsDelay] = .milliseconds(50)
        let error = #expect(throws: NetworkError.self) {
            var request = TransportRequest(url: try RequestURL("http://127.0.0.1/"))
            request.options = options
            try request.check(for: TransportCapabilities(transport: "other", basis: "", supported: []))
        }
        #expect(error?.code == .unsupported && error?.message.contains("happyEyeballsDelay") == true)
    }
}
