import Foundation
import NetworkCore
import NetworkTesting
import TestSupport
import Testing

@testable import CurlTransport

@Suite("Connections opened ahead of their requests", .patience(minutes: 1))
struct PrewarmTests {
    private let dispatcher = CurlNetworkDispatcher()

    @Test func `connections made ahead are open, carried no request, and serve the next ones`() async throws {
        try await withServer(.ok("x")) { server in
            try await dispatcher.prewarm(RequestURL(server.url("/not/asked/for")), connections: 3)
            // The kernel has the connections before the server accepts them.
            try await server.wait { $0.connectionCount >= 3 }
            #expect(server.connectionCount == 3)
            #expect(server.requests.isEmpty)
            let url = server.url()
            try await withThrowingTaskGroup(of: TransportMetrics.self) { group in
                for _ in 0..<3 { group.addTask { try await OptionExchange(url, over: dispatcher).metrics } }
                for try await metrics in group {
                    #expect(metrics.connectionReused == true)
                    #expect(metrics.connect == nil)
                }
            }
            #expect(server.connectionCount == 3)
            #expect(server.requests.map(\.method) == ["GET", "GET", "GET"])
        }
    }

    @Test(arguments: [TransportOptions.HTTPVersion.automatic, .http1_1, .http2])
    func `connections are made ahead for any version`(version: TransportOptions.HTTPVersion) async throws {
        try await withServer(.ok("x")) { server in
            var options = TransportOptions()
            options.httpVersion = version
            guard version != .http2 || dispatcher.capabilities.supports(.http2) else { return }
            try await dispatcher.prewarm(RequestURL(server.url()), options: options)
            let exchange = try await OptionExchange(server.url(), over: dispatcher) { $0.httpVersion = version }
            #expect(exchange.metrics.connectionReused == true)
        }
    }

    @Test func `a connection that was kept already is not counted`() async throws {
        try await withServer(.ok("x")) { server in
            _ = try await OptionExchange(server.url(), over: dispatcher)
            try await dispatcher.prewarm(RequestURL(server.url()), connections: 2)
            // The kernel has the connections before the server accepts them.
            try await server.wait { $0.connectionCount >= 3 }
            #expect(server.connectionCount == 3)
        }
    }

    /// Regression: all of them had a task at once, gigabytes of them, and no cancellation ended it.
    @Test func `any number of connections takes the memory of a few`() async throws {
        var configuration = CurlNetworkDispatcher.Configuration()
        (configuration.maximumConnections, configuration.maximumConnectionsPerOrigin) = (.max, .max)
        let dispatcher = CurlNetworkDispatcher(configuration: configuration)
        let closed = try ClosedPort()
        defer { closed.stop() }
        await expectFailure(.connectFailed) {
            try await dispatcher.prewarm(RequestURL(closed.url()), connections: .max)
        }
        let silent = try FullListener()
        defer { silent.stop() }
        let opening = Task { try await dispatcher.prewarm(RequestURL(silent.url()), connections: .max) }
        opening.cancel()
        await expectFailure(.cancelled) { try await opening.value }
    }

    @Test func `an origin that can't be reached fails`() async throws {
        let closed = try ClosedPort()
        defer { closed.stop() }
        await expectFailure(.connectFailed) { try await dispatcher.prewarm(RequestURL(closed.url())) }
        await expectFailure(.nameNotResolved) {
            try await dispatcher.prewarm(RequestURL("http://nonexistent.invalid/"), connections: 2)
        }
        let full = try FullListener()
        defer { full.stop() }
        var options = TransportOptions()
        options.connectTimeout = .milliseconds(300)
        await expectFailure(.connectTimeout) { try await dispatcher.prewarm(RequestURL(full.url()), options: options) }
    }

    @Test func `a request that makes no sense is refused`() async throws {
        let url = try RequestURL("http://127.0.0.1:1/")
        for count in [-1, 0, 129] {
            await expectFailure(.invalidOption) { try await dispatcher.prewarm(url, connections: count) }
        }
        var options = TransportOptions()
        options.connection.forbidsReuse = true
        await expectFailure(.invalidOption) { try await dispatcher.prewarm(url, options: options) }
        // More than the pool keeps.
        var configuration = CurlNetworkDispatcher.Configuration()
        configuration.maximumConnections = 4
        let small = CurlNetworkDispatcher(configuration: configuration)
        await expectFailure(.invalidOption) { try await small.prewarm(url, connections: 5) }
    }

    /// Regression: such connections were opened, then closed at once, and the call succeeded.
    @Test func `a connection that would not be kept is refused`() async throws {
        try await withServer(.ok("x")) { server in
            guard dispatcher.capabilities.supports(.httpsProxies) else { return }
            var options = TransportOptions()
            options.proxy = .explicit(TransportOptions.Proxy.Server("https://127.0.0.1:\(server.port)"))
            for url in try ["http", "https"].map({ try RequestURL("\($0)://example.invalid/") }) {
                await expectFailure(.unsupported) { [options] in try await dispatcher.prewarm(url, options: options) }
            }
            #expect(server.connectionCount == 0)
        }
    }

    /// Regression: the CONNECT counted as a request that had gone out, and the call failed although the connection was
    /// open.
    @Test func `connections are made ahead through a tunnel`() async throws {
        let tunnel = "HTTP/1.1 200 OK\r\n\r\n"
        try await withServer([
            .readHead, .send(tunnel), .forEachRequest([.send("HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx")]),
        ]) { server in
            var options = TransportOptions()
            var proxy = TransportOptions.Proxy.Server(server.baseURL)
            proxy.tunnel = true
            options.proxy = .explicit(proxy)
            options.totalTimeout = .seconds(30)
            let url = "http://example.invalid/"
            try await dispatcher.prewarm(RequestURL(url), options: options)
            let metrics = try await OptionExchange(url, over: dispatcher) { $0 = options }.metrics
            #expect(metrics.connectionReused == true)
            #expect(server.requests.map(\.method) == ["CONNECT", "GET"] && server.connectionCount == 1)
        }
    }

    @Test func `cancelling ends the making of connections`() async throws {
        let full = try FullListener()
        defer { full.stop() }
        let url = try RequestURL(full.url())
        let opening = Task { try await dispatcher.prewarm(url, connections: 2) }
        opening.cancel()
        await expectFailure(.cancelled) { try await opening.value }
    }
}
