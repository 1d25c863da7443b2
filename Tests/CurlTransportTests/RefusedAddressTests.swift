import Foundation
import NetworkCore
import NetworkTesting
import TestSupport
import Testing

@testable import CurlTransport

@Suite("Addresses that refuse connections", .patience(minutes: 1))
struct RefusedAddressTests {
    /// From 7.88 to 8.3, libcurl tries the next address only after half of the connect timeout, which is far away here.
    @Test(arguments: [1, 2, 4])
    func `refused addresses are followed by the next one at once`(count: Int) async throws {
        try await withServer(.ok("x")) { server in
            let dispatcher = CurlNetworkDispatcher()
            let places = (0..<count).map { "127.0.0.\($0 + 2)" } + ["127.0.0.1"]
            let names = TransportOptions.Names.StaticAddresses("many.test", port: Int(server.port), places)
            let exchange = try await OptionExchange("http://many.test:\(server.port)/", over: dispatcher) {
                $0.names.addresses = [names]
                $0.connectTimeout = .seconds(3_600)
            }
            #expect(exchange.text == "x")
            await dispatcher.shutDown(within: .zero)
        }
    }

    /// From 7.88 to 8.1 libcurl closes the socket of a silent address without a report, and waits.
    @Test
    func `a silent address is followed by the next one`() async throws {
        try await withServer(.ok("x")) { server in
            let full = try FullListener(on: server.port, of: "127.0.0.2")
            defer { full.stop() }
            let dispatcher = CurlNetworkDispatcher()
            let exchange = try await OptionExchange("http://two.test:\(full.port)/", over: dispatcher) {
                $0.names.addresses = [.init("two.test", port: Int(full.port), ["127.0.0.2", "127.0.0.1"])]
                // Half of it is the silent address's, and in the other half the next one has to respond.
                $0.connectTimeout = .seconds(4 * patienceFactor)
            }
            #expect(exchange.text == "x")
            await dispatcher.shutDown(within: .zero)
        }
    }

    /// Regression: until libcurl had run it, a kept handle told the last request's times, and only libcurl's own
    /// timeout, which is longer, ended the connecting.
    @Test func `a request with a kept handle has its own connect timeout`() async throws {
        let server = try ScriptedServer([
            .read, .send("HTTP/1.1 200 OK\r\nContent-Length: 1\r\nConnection: close\r\n\r\nx"), .close,
        ])
        let dispatcher = CurlNetworkDispatcher()
        func send(connectTimeout: Duration) async throws -> String {
            try await OptionExchange(server.url(), over: dispatcher) { $0.connectTimeout = connectTimeout }.text
        }
        // So long that no look is due for the second one.
        #expect(try await send(connectTimeout: .seconds(3_600)) == "x")
        server.stop()
        let full = try FullListener(on: server.port, of: "127.0.0.1")
        defer { full.stop() }
        let error = await expectFailure(.connectTimeout) { _ = try await send(connectTimeout: .seconds(2)) }
        #expect(error?.underlying == nil, "\(error as Any)")
        await dispatcher.shutDown(within: .zero)
    }

    @Test func `refused addresses are an error when none is left`() async throws {
        let port = try ClosedPort()
        defer { port.stop() }
        let dispatcher = CurlNetworkDispatcher()
        let places = ["127.0.0.1", "127.0.0.2", "127.0.0.3"]
        let names = TransportOptions.Names.StaticAddresses("many.test", port: Int(port.port), places)
        await expectFailure(.connectFailed) {
            try await OptionExchange("http://many.test:\(port.port)/", over: dispatcher) {
                $0.names.addresses = [names]
                $0.connectTimeout = .seconds(3_600)
            }
        }
        await dispatcher.shutDown(within: .zero)
    }
}
