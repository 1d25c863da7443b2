import CLibrary
import NetworkCore
import NetworkTesting
import TestSupport
import Testing

@testable import CurlTransport

@Suite("Options that not every libcurl has", .patience(minutes: 1))
struct NewerOptionTests {
    private static let samples: [(TransportCapabilities.Capability, @Sendable (inout TransportOptions) -> Void)] = [
        (.keepAliveProbes, { $0.connection.keepAlive = probes(3) }),
        (.connectionOptions, { $0.connection.happyEyeballsDelay = .milliseconds(3) }),
        (.tlsGroups, { $0.tls.groups = "3" }), (.tlsSignatureAlgorithms, { $0.tls.signatureAlgorithms = "3" }),
    ]

    private static func probes(_ count: Int) -> TransportOptions.Connection.KeepAlive {
        var keepAlive = TransportOptions.Connection.KeepAlive()
        keepAlive.probes = count
        return keepAlive
    }

    /// Over each libcurl of `scripts/matrix`, this also checks the versions.
    @Test(arguments: samples.indices)
    func `an option is applied, or refused before anything is sent`(index: Int) async throws {
        let (capability, change) = Self.samples[index]
        try await withServer(.ok("x")) { server in
            if CurlNetworkDispatcher().capabilities.supports(capability) {
                let text = try await Exchange(server.url(), options: change).text
                #expect(text == "x")
            } else {
                let error = await expectFailure(.unsupported) {
                    try await Exchange(server.url(), options: change)
                }
                #expect(error?.message.contains(capability.rawValue) == true)
                #expect(server.connectionCount == 0)
            }
        }
    }

    @Test(.enabled(if: Libcurl.found.version >= LibcurlVersion(8, 9), "from libcurl 8.9"))
    func `the number of probes is the socket's`() async throws {
        let (asked, answer) = (Gate(), Gate())
        try await withServer([
            .read, .open(asked), .wait(until: answer), .send(Script.head(204, fields: [])),
        ]) { server in
            let url = server.url()
            let exchange = Task { try await Exchange(url) { $0.connection.keepAlive = Self.probes(7) } }
            try await asked.wait()
            let counts = try OwnSockets.connected(to: [Int(server.port)]).compactMap {
                OwnSockets.option(Int32(TCP_KEEPCNT), level: Int32(IPPROTO_TCP), of: $0)
            }
            #expect(counts == [7])
            answer.open()
            #expect(try await exchange.value.status == 204)
        }
    }
}
