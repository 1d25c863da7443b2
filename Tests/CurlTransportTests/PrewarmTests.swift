import Foundation
import NetworkCore
import NetworkTesting
import TestSupport
import Testing

@testable import CurlTransport

@Suite("Connections opened ahead of their requests", .patience(minutes: 1))
struct PrewarmTests {
    private let dispatcher = CurlNetworkDispatcher()

    private func prewarm(
        _ url: String, connections: Int = 1, over other: CurlNetworkDispatcher? = nil,
        _ change: (inout TransportOptions) -> Void = { _ in }
    ) async throws {
        var options = TransportOptions()
        change(&options)
        try await (other ?? dispatcher).prewarm(RequestURL(url), connections: connections, options: options)
    }

    @Test func `connections made ahead are open, carried no request, and serve the next ones`() async throws {
        try await withServer(.ok("x")) { server in
            try await prewarm(server.url("/not/asked/for"), connections: 3)
            // The kernel has the connections before the server accepts them.
            try await server.wait { $0.connectionCount >= 3 }
            #expect(server.connectionCount == 3 && server.requests.isEmpty)
            let url = server.url()
            for metrics in try await atOnce(3, { _ in try await Exchange(url, over: dispatcher).metrics }) {
                #expect(metrics.connectionReused == true && metrics.connect == nil)
            }
            #expect(server.connectionCount == 3)
            #expect(server.requests.map(\.method) == ["GET", "GET", "GET"])
        }
    }

    @Test(arguments: [TransportOptions.HTTPVersion.automatic, .http1_1, .http2])
    func `connections are made ahead for any version`(version: TransportOptions.HTTPVersion) async throws {
        guard version != .http2 || dispatcher.capabilities.supports(.http2) else { return }
        try await withServer(.ok("x")) { server in
            try await prewarm(server.url()) { $0.httpVersion = version }
            let exchange = try await Exchange(server.url(), over: dispatcher) { $0.httpVersion = version }
            #expect(exchange.metrics.connectionReused == true)
        }
    }

    @Test func `a connection that was kept already is not counted`() async throws {
        try await withServer(.ok("x")) { server in
            _ = try await Exchange(server.url(), over: dispatcher)
            try await prewarm(server.url(), connections: 2)
            try await server.wait { $0.connectionCount >= 3 }
            #expect(server.connectionCount == 3)
        }
    }

    /// Regression: all of them had a task at once, gigabytes of them, and no cancellation ended it.
    @Test func `any number of connections takes the memory of a few`() async throws {
        let unlimited = CurlNetworkDispatcher {
            ($0.maximumConnections, $0.maximumConnectionsPerOrigin) = (.max, .max)
        }
        let closed = try ClosedPort()
        defer { closed.stop() }
        await expectFailure(.connectFailed) { try await prewarm(closed.url(), connections: .max, over: unlimited) }
        let silent = try FullListener()
        defer { silent.stop() }
        let opening = Task { try await prewarm(silent.url(), connections: .max, over: unlimited) }
        opening.cancel()
        await expectFailure(.cancelled) { try await opening.value }
    }

    @Test func `an origin that can't be reached fails`() async throws {
        let closed = try ClosedPort()
        defer { closed.stop() }
        await expectFailure(.connectFailed) { try await prewarm(closed.url()) }
        await expectFailure(.nameNotResolved) { try await prewarm("http://nonexistent.invalid/", connections: 2) }
        let full = try FullListener()
        defer { full.stop() }
        await expectFailure(.connectTimeout) {
            try await prewarm(full.url()) { $0.connectTimeout = .milliseconds(300) }
        }
    }

    @Test func `a request that makes no sense is refused`() async throws {
        let url = "http://127.0.0.1:1/"
        for count in [-1, 0, 129] {
            await expectFailure(.invalidOption) { try await prewarm(url, connections: count) }
        }
        await expectFailure(.invalidOption) { try await prewarm(url) { $0.connection.forbidsReuse = true } }
        // More than the pool keeps.
        let small = CurlNetworkDispatcher { $0.maximumConnections = 4 }
        await expectFailure(.invalidOption) { try await prewarm(url, connections: 5, over: small) }
    }

    /// Regression: such connections were opened, then closed at once, and the call succeeded.
    @Test(arguments: ["http", "https"])
    func `a connection that would not be kept is refused`(scheme: String) async throws {
        guard dispatcher.capabilities.supports(.httpsProxies) else { return }
        try await withServer(.ok("x")) { server in
            await expectFailure(.unsupported) {
                try await prewarm("\(scheme)://example.invalid/") {
                    $0.proxy = .server("https://127.0.0.1:\(server.port)")
                }
            }
            #expect(server.connectionCount == 0)
        }
    }

    /// Regression: the CONNECT counted as a request that had gone out, and the call failed although the connection was
    /// open.
    @Test func `connections are made ahead through a tunnel`() async throws {
        try await withServer([.readHead, .send("HTTP/1.1 200 OK\r\n\r\n"), .forEachRequest([.ok("x")])]) { server in
            let url = "http://example.invalid/"
            let proxy = TransportOptions.Proxy.server(server.baseURL, tunnel: true)
            try await prewarm(url) { ($0.proxy, $0.totalTimeout) = (proxy, .seconds(30)) }
            let metrics = try await Exchange(url, over: dispatcher) { $0.proxy = proxy }.metrics
            #expect(metrics.connectionReused == true)
            #expect(server.requests.map(\.method) == ["CONNECT", "GET"] && server.connectionCount == 1)
        }
    }
}
