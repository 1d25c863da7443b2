import CLibrary
import Foundation
import NetworkCore
import NetworkTesting
import TestSupport
import Testing

@testable import CurlTransport

@Suite("Connection options", .patience(minutes: 1))
struct ConnectionOptionTests {
    private let dispatcher = CurlNetworkDispatcher()

    @Test func `a fresh connection leaves the kept one alone`() async throws {
        try await withServer(.ok("x")) { server in
            _ = try await Exchange(server.url(), over: dispatcher)
            let fresh = try await Exchange(server.url(), over: dispatcher) { $0.connection.isFresh = true }
            #expect(fresh.metrics.connectionReused == false)
            #expect(server.connectionCount == 2)
        }
    }

    @Test func `a connection that forbids reuse is closed`() async throws {
        try await withServer(.ok("x")) { server in
            _ = try await Exchange(server.url(), over: dispatcher) { $0.connection.forbidsReuse = true }
            try await server.wait { $0.connectionsEndedByPeer == 1 }
            _ = try await Exchange(server.url(), over: dispatcher)
            #expect(server.connectionCount == 2)
        }
    }

    @Test func `the IP version chooses among addresses, and no kept connection is of another`() async throws {
        try await withServer(.ok("x")) { server async throws in
            func exchange(_ version: TransportOptions.Connection.IPVersion) async throws -> Exchange {
                try await Exchange("http://both.test:\(server.port)/", over: dispatcher) {
                    $0.pin("both.test", to: "::1", "127.0.0.1", port: server.port)
                    $0.connection.ipVersion = version
                }
            }
            for version in [TransportOptions.Connection.IPVersion.any, .v4] {
                #expect(try await exchange(version).metrics.remoteAddress == "127.0.0.1:\(server.port)")
            }
            // Nothing listens on ::1.
            await expectFailure(.connectFailed) { try await exchange(.v6) }
            await #expect(throws: NetworkError.self) {
                try await Exchange("http://localhost:\(server.port)/", over: dispatcher) {
                    $0.connection.ipVersion = .v6
                }
            }
        }
    }

    @Test func `a connection of one IP version is kept for requests of that version`() async throws {
        try await withServer(.ok("x")) { server in
            for _ in 0..<3 {
                _ = try await Exchange(server.url(), over: dispatcher) { $0.connection.ipVersion = .v4 }
            }
            #expect(server.connectionCount == 1)
        }
    }

    @Test(arguments: [true, false])
    func `a Unix socket takes the place of host and port`(isAbstract: Bool) async throws {
        let name = isAbstract ? "networklayer-\(UUID())" : "/tmp/networklayer-\(UUID()).socket"
        let server = try UnixServer(name, isAbstract: isAbstract)
        defer { server.stop() }
        let exchange = try await Exchange("http://somewhere.invalid/a") {
            $0.connection.unixSocket = isAbstract ? .abstract(name) : .path(name)
        }
        #expect(exchange.text == "unix")
        #expect(server.requestLine == "GET /a HTTP/1.1")
    }

    @Test func `a connection from an address serves no request that asked for none`() async throws {
        try await withServer(.ok()) { server in
            let bound = try await Exchange(server.url(), over: dispatcher) { $0.connection.interface = "127.0.0.2" }
            #expect(bound.metrics.localAddress?.hasPrefix("127.0.0.2:") == true)
            let free = try await Exchange(server.url(), over: dispatcher)
            #expect(free.metrics.localAddress?.hasPrefix("127.0.0.1:") == true)
            #expect(free.metrics.connectionReused == false)
        }
    }

    @Test func `a request leaves from its local port`() async throws {
        try await withServer(.ok("x")) { server in
            let exchange = try await Exchange(server.url()) { $0.connection.localPorts = 7_100...7_399 }
            let port = exchange.metrics.localAddress?.split(separator: ":").last.flatMap { Int($0) }
            #expect((7_100...7_399).contains(try #require(port)))
        }
    }

    /// Regression: a mistyped interface was looked up as a host, while every other exchange of the dispatcher waited.
    @Test(arguments: ["eth9", "no.such.host"])
    func `an interface that does not exist is an error at once`(name: String) async throws {
        try await withServer(.ok()) { server in
            let error = await expectFailure(.connectFailed) {
                try await Exchange(server.url()) { $0.connection.interface = name }
            }
            #expect(error?.message.contains("connection.interface") == true)
        }
    }

    @Test(arguments: ["host!localhost", "if!lo", "fe80::1%lo", "a.host.name.of.some.length", ""])
    func `a text that is neither an address nor an interface is refused`(name: String) async {
        await expectFailure(.invalidOption) {
            try await Exchange("http://127.0.0.1:1/") { $0.connection.interface = name }
        }
    }

    /// Returns what the socket of a running request has for an option.
    static func socketOption(
        _ option: Int32, level: Int32, _ change: @escaping @Sendable (inout TransportOptions) -> Void
    ) async throws -> [Int32?] {
        let (asked, answer) = (Gate(), Gate())
        return try await withServer([.read, .open(asked), .wait(until: answer), .respond(204)]) { server in
            let url = server.url()
            let exchange = Task { try await Exchange(url, options: change) }
            try await asked.wait()
            let settings = try OwnSockets.connected(to: [Int(server.port)])
                .map { OwnSockets.option(option, level: level, of: $0) }
            answer.open()
            #expect(try await exchange.value.status == 204)
            return settings
        }
    }

    @Test(arguments: [true, false])
    func `keepAlive sets the socket's option`(isOn: Bool) async throws {
        let settings = try await Self.socketOption(SO_KEEPALIVE, level: SOL_SOCKET) {
            if isOn { $0.connection.keepAlive = .init() }
        }
        #expect(settings == [isOn ? 1 : 0])
    }
}
