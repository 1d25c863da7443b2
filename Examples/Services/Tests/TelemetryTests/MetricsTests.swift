import CurlTransport
import Foundation
import HTTPTypes
import Metrics
import MetricsTestKit
import NetworkLayer
import NetworkTesting
import Testing

@testable import NetworkTelemetry

private protocol Dimensioned { var dimensions: [(String, String)] { get } }
extension TestTimer: Dimensioned {}
extension TestCounter: Dimensioned {}
extension TestMeter: Dimensioned {}

/// The metrics of calls, exchanges and connections.
@Suite("Metrics")
struct MetricsTests {
    private let metrics = TestMetrics()

    private func client(over transport: any HTTPTransport, baseURL: String? = "http://h:81") -> NetworkClient {
        NetworkClient(transport: transport, baseURL: baseURL).measured(by: metrics)
    }

    private func dimensions(_ metric: some Dimensioned) -> [String: String] {
        Dictionary(metric.dimensions, uniquingKeysWith: { $1 })
    }

    @Test func `an exchange and its call have a duration`() async throws {
        let request = RequestData(path: "users/{id}", pathParameters: ["id": 7])
        _ = try await client(over: StubTransport(always: .text("hello"))).send(request, as: .text)
        let exchange = try #require(metrics.timers(label: "http.client.request.duration").first)
        #expect(exchange.values.count == 1 && exchange.displayUnit == .seconds)
        #expect(
            dimensions(exchange) == [
                "http.request.method": "GET", "url.template": "/users/{id}", "server.address": "h",
                "server.port": "81", "http.response.status_code": "200",
            ])
        let call = try #require(metrics.timers(label: "networklayer.client.call.duration").first)
        #expect(dimensions(call) == ["http.request.method": "GET", "url.template": "/users/{id}"])
        #expect(metrics.counters.isEmpty)
    }

    @Test func `retries are counted, and each attempt is an exchange`() async throws {
        let stub = StubTransport()
        stub.when(.any, .status(503), .failure(NetworkError.connectTimeout), .text("there"))
        var policy = RetryInterceptor.Policy()
        policy.baseDelay = .zero
        var client = client(over: stub)
        client.interceptors.append(.retry(policy))
        _ = try await client.send(RequestData(path: "a"), as: .text)
        #expect(metrics.counterTotal(label: "networklayer.client.call.retries") == 2)
        let exchanges = metrics.timers(label: "http.client.request.duration").map { dimensions($0)["error.type"] }
        #expect(Set(exchanges) == ["503", "connectTimeout", nil])
        let call = try #require(metrics.timers(label: "networklayer.client.call.duration").first)
        #expect(dimensions(call)["error.type"] == nil && call.values.count == 1)
    }

    @Test func `an exchange is active until its body has ended`() async throws {
        let response = try await client(over: StubTransport(always: .chunks([Data("a".utf8), Data("b".utf8)])))
            .send(RequestData(path: "a"), as: .stream)
        let active = try #require(metrics.meters(label: "http.client.active_requests").first)
        #expect(active.lastValue == 1 && metrics.timers.isEmpty)
        for try await _ in response.body {}
        #expect(active.lastValue == 0 && metrics.timers.count == 2)
    }

    @Test func `exchanges in flight are counted together`() async throws {
        let client = client(over: StubTransport(always: .chunks([Data("a".utf8), Data("b".utf8)])))
        let (first, second) = (
            try await client.send(RequestData(path: "a"), as: .stream),
            try await client.send(RequestData(path: "b"), as: .stream)
        )
        let active = try #require(metrics.meters(label: "http.client.active_requests").first)
        #expect(active.values == [1, 2])
        for body in [first.body, second.body] { for try await _ in body {} }
        #expect(active.values == [1, 2, 1, 0])
    }

    @Test func `an unknown method and many servers don't make many metrics`() async throws {
        let client = client(over: StubTransport(always: .text("")), baseURL: nil)
        for number in 0..<150 {
            let method = try #require(HTTPRequest.Method("M\(number)"))
            _ = try await client.send(RequestData(path: "http://h\(number).test/", method: method), as: .text)
        }
        let exchanges = metrics.timers(label: "http.client.request.duration").map { dimensions($0) }
        #expect(Set(exchanges.compactMap { $0["http.request.method"] }) == ["_OTHER"])
        let servers = Set(exchanges.compactMap { $0["server.address"] })
        #expect(servers.contains("_OTHER") && servers.count <= 101)
    }

    @Test(arguments: TransportKind.allCases) func `bodies have sizes`(over kind: TransportKind) async throws {
        try await withServer(.ok("hello")) { server in
            let request = RequestData(path: server.url(), method: .post, content: .text("abc"))
            _ = try await client(over: kind.transport, baseURL: nil).send(request, as: .text)
        }
        #expect(metrics.recorders(label: "http.client.response.body.size").map(\.lastValue) == [5])
        guard kind == .curl else { return }
        #expect(metrics.recorders(label: "http.client.request.body.size").map(\.lastValue) == [3])
    }

    @Test func `connections are reported, what grows by its difference`() async throws {
        let dispatcher = CurlNetworkDispatcher()
        try await withServer(.ok("hello")) { server in
            let reporter = ConnectionMetrics(of: dispatcher, by: metrics)
            _ = try await dispatcher.send(RequestData(path: server.url()), as: .text)
            let first = await reporter.report(since: TransportStatistics())
            _ = try await dispatcher.send(RequestData(path: server.url()), as: .text)
            _ = await reporter.report(since: first)
            let opened = metrics.counters(label: "networklayer.pool.opened")
            #expect(opened.map { dimensions($0) } == [["origin": "http://127.0.0.1:\(server.port)"]])
            #expect(opened[0].values == [1, Int64(first.connections.closed)])
            let idle = metrics.meters(label: "http.client.open_connections")
            #expect(Set(idle.map { dimensions($0)["http.connection.state"] }) == ["active", "idle"])
            let rounds = try #require(metrics.counters(label: "networklayer.loop.rounds").first)
            #expect(rounds.values.allSatisfy { $0 > 0 } && rounds.values.count == 2)
        }
    }
}
