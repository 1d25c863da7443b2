import CLibrary
import Foundation
import NetworkCore
import NetworkTesting
import TestSupport
import Testing

@testable import CurlTransport

@Suite("Connection options", .patience(minutes: 1))
struct ConnectionOptionTests {
    private func local(_ metrics: TransportMetrics) throws -> (host: String, port: Int) {
        let parts = try #require(metrics.localAddress).split(separator: ":")
        return (String(parts[0]), try #require(Int(parts[1])))
    }

    @Test func `a fresh connection leaves the kept one alone`() async throws {
        try await withServer(.ok("x")) { server in
            let dispatcher = CurlNetworkDispatcher()
            _ = try await OptionExchange(server.url(), over: dispatcher)
            let fresh = try await OptionExchange(server.url(), over: dispatcher) { $0.connection.isFresh = true }
            #expect(fresh.metrics.connectionReused == false)
            #expect(server.connectionCount == 2)
        }
    }

    @Test func `a connection that forbids reuse is closed`() async throws {
        try await withServer(.ok("x")) { server in
            let dispatcher = CurlNetworkDispatcher()
            _ = try await OptionExchange(server.url(), over: dispatcher) { $0.connection.forbidsReuse = true }
            try await server.wait { $0.connectionsEndedByPeer == 1 }
            _ = try await OptionExchange(server.url(), over: dispatcher)
            #expect(server.connectionCount == 2)
        }
    }

    @Test func `the IP version chooses among addresses`() async throws {
        try await withServer(.ok("x")) { server in
            let both = TransportOptions.Names.StaticAddresses(
                "both.test", port: Int(server.port), ["::1", "127.0.0.1"])
            let url = "http://both.test:\(server.port)/"
            let four = try await OptionExchange(url) {
                $0.names.addresses = [both]
                $0.connection.ipVersion = .v4
            }
            #expect(four.metrics.remoteAddress == "127.0.0.1:\(server.port)")
            // Nothing listens on ::1.
            await #expect(throws: NetworkError.self) {
                try await OptionExchange("http://localhost:\(server.port)/", over: CurlNetworkDispatcher()) {
                    $0.connection.ipVersion = .v6
                }
            }
            #expect(server.connectionCount == 1)
        }
    }

    @Test func `a kept connection serves no request of the other IP version`() async throws {
        let server = try ScriptedServer(.ok("x"))
        defer { server.stop() }
        let dispatcher = CurlNetworkDispatcher()
        let both = TransportOptions.Names.StaticAddresses("both.test", port: Int(server.port), ["::1", "127.0.0.1"])
        let url = "http://both.test:\(server.port)/"
        for version in [TransportOptions.Connection.IPVersion.any, .v4] {
            _ = try await OptionExchange(url, over: dispatcher) {
                $0.names.addresses = [both]
                $0.connection.ipVersion = version
            }
        }
        // Nothing listens on ::1.
        await expectFailure(.connectFailed) {
            try await OptionExchange(url, over: dispatcher) {
                $0.names.addresses = [both]
                $0.connection.ipVersion = .v6
            }
        }
        await dispatcher.shutDown(within: .zero)
    }

    @Test func `a connection of one IP version is kept for requests of that version`() async throws {
        let server = try ScriptedServer(.ok("x"))
        defer { server.stop() }
        let dispatcher = CurlNetworkDispatcher()
        for _ in 0..<3 {
            _ = try await OptionExchange(server.url(), over: dispatcher) { $0.connection.ipVersion = .v4 }
        }
        #expect(server.connectionCount == 1)
    }

    @Test(arguments: [true, false])
    func `a Unix socket takes the place of host and port`(isAbstract: Bool) async throws {
        let name = isAbstract ? "networklayer-\(UUID())" : "/tmp/networklayer-\(UUID()).socket"
        let server = try UnixServer(name, isAbstract: isAbstract)
        defer { server.stop() }
        let exchange = try await OptionExchange("http://somewhere.invalid/a") {
            $0.connection.unixSocket = isAbstract ? .abstract(name) : .path(name)
        }
        #expect(exchange.text == "unix")
        #expect(server.requestLine == "GET /a HTTP/1.1")
    }

    @Test func `a request leaves from its local address`() async throws {
        try await withServer(.ok("x")) { server in
            let exchange = try await OptionExchange(server.url()) { $0.connection.interface = "127.0.0.2" }
            #expect(try local(exchange.metrics).host == "127.0.0.2")
        }
    }

    @Test func `a request leaves from its local port`() async throws {
        try await withServer(.ok("x")) { server in
            let exchange = try await OptionExchange(server.url()) { $0.connection.localPorts = 7_100...7_399 }
            #expect((7_100...7_399).contains(try local(exchange.metrics).port))
        }
    }

    @Test(arguments: [true, false])
    func `keepAlive sets the socket's option`(isOn: Bool) async throws {
        let (asked, answer) = (Gate(), Gate())
        try await withServer([
            .read, .open(asked), .wait(until: answer), .send(Script.head(204, fields: [])),
        ]) { server in
            let url = server.url()
            let exchange = Task {
                try await OptionExchange(url) { if isOn { $0.connection.keepAlive = .init() } }
            }
            try await asked.wait()
            let settings = try OwnSockets.connected(to: [Int(server.port)])
                .map { OwnSockets.option(SO_KEEPALIVE, level: SOL_SOCKET, of: $0) }
            #expect(settings == [isOn ? 1 : 0])
            answer.open()
            #expect(try await exchange.value.status == 204)
        }
    }
}
