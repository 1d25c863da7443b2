import Foundation
import NetworkCore
import NetworkTesting
import TestSupport
import Testing

@testable import CurlTransport

@Suite("How names become addresses", .timeLimit(.minutes(1)))
struct NameOptionTests {
    @Test func staticAddressesServeTheirRequestAlone() async throws {
        let server = try ScriptedServer(.ok("x"))
        defer { server.stop() }
        let dispatcher = CurlNetworkDispatcher()
        let url = "http://known.invalid:\(server.port)/"
        let known = NameOptions.StaticAddresses("Known.invalid", port: Int(server.port), ["::1", "127.0.0.1"])
        let exchange = try await OptionExchange(url, over: dispatcher) { $0.names.addresses = [known] }
        #expect(exchange.text == "x")
        #expect(server.requests.first?.values(of: "Host") == ["known.invalid:\(server.port)"])
        // Neither the name cache nor the kept connection serves one who did not say it.
        await expectFailure(.nameNotResolved) { try await OptionExchange(url, over: dispatcher) }
        let again = try await OptionExchange(url, over: dispatcher) { $0.names.addresses = [known] }
        #expect(again.metrics.connectionReused == true)
    }

    @Test func theFirstRuleThatFitsSaysWhereToConnect() async throws {
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

    @Test func aNameStandsForItsAddressesAndNoOthers() {
        let name = RouteOption.name(for: ["127.0.0.1", "::1"])
        #expect(name.hasPrefix("127-0-0-1.xx1.") && name.hasSuffix(".static.invalid"))
        // What is between them is the process's own: 128 bits by 36 signs.
        let secret = name.split(separator: ".")[2]
        #expect(secret.count >= 20)
        #expect(RouteOption.name(for: ["FE80::1"]) == "fe80xx1.\(secret).static.invalid")
    }
}
