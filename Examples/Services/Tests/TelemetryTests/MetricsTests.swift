import CurlTransport
import Foundation
import HTTPTypes
import Metrics
import MetricsTestKit
import NetworkLayer
import NetworkResilience
import NetworkTesting
import Synchronization
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
        #expect(
            dimensions(call) == [
                "http.request.method": "GET", "url.template": "/users/{id}", "server.address": "h", "server.port": "81",
            ])
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

    /// A factory that is a value.
    private struct Registry: MetricsFactory {
        let metrics = TestMetrics()

        func makeCounter(label: String, dimensions: [(String, String)]) -> any CounterHandler {
            metrics.makeCounter(label: label, dimensions: dimensions)
        }
        func makeRecorder(label: String, dimensions: [(String, String)], aggregate: Bool) -> any RecorderHandler {
            metrics.makeRecorder(label: label, dimensions: dimensions, aggregate: aggregate)
        }
        func makeMeter(label: String, dimensions: [(String, String)]) -> any MeterHandler {
            metrics.makeMeter(label: label, dimensions: dimensions)
        }
        func makeTimer(label: String, dimensions: [(String, String)]) -> any TimerHandler {
            metrics.makeTimer(label: label, dimensions: dimensions)
        }
        func destroyCounter(_ handler: any CounterHandler) {}
        func destroyRecorder(_ handler: any RecorderHandler) {}
        func destroyMeter(_ handler: any MeterHandler) {}
        func destroyTimer(_ handler: any TimerHandler) {}
    }

    /// Regression: factories of one type counted as one, so the second registry stayed empty.
    @Test func `each of two factories that are values gets its own metrics`() async throws {
        for registry in [Registry(), Registry()] {
            let client = NetworkClient(transport: StubTransport(always: .text("")), baseURL: "http://value.test")
                .measured(by: registry)
            for _ in 0..<2 { _ = try await client.send(RequestData(path: "a"), as: .text) }
            #expect(registry.metrics.timers(label: "http.client.request.duration").map(\.values.count) == [2])
            #expect(registry.metrics.meters(label: "http.client.active_requests").map(\.values) == [[1, 0, 1, 0]])
        }
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
            let (reporter, origin) = (StateMetrics(of: dispatcher, by: metrics), "http://127.0.0.1:\(server.port)")
            var state = StateMetrics.Reported()
            _ = try await dispatcher.send(RequestData(path: server.url()), as: .text)
            await reporter.report(&state)
            _ = try await dispatcher.send(RequestData(path: server.url()), as: .text)
            await reporter.report(&state)
            let now = await dispatcher.statistics.connections
            let opened = metrics.counters(label: "networklayer.pool.opened")
            #expect(opened.map { dimensions($0) } == [["origin": origin]])
            #expect(metrics.counterTotal(label: "networklayer.pool.opened") == Int64(now.opened))
            let idle = metrics.meters(label: "http.client.open_connections")
            #expect(Set(idle.map { dimensions($0)["http.connection.state"] }) == ["active", "idle"])
            #expect(metrics.counterTotal(label: "networklayer.loop.rounds") > 0)
            let rest = try #require(metrics.meters(label: "networklayer.loop.longest_round_seconds").first?.lastValue)
            #expect(rest > 0 && rest < 60)
        }
    }

    /// What reports figures that a test sets.
    private final class Source: ReportsFigures {
        let numbers = Mutex<[Figure]>([])
        var figures: [Figure] { numbers.withLock { $0 } }
    }

    @Test func `totals keep their fractions, and what is gone is 0 and destroyed`() async throws {
        let (source, breaker) = (Source(), CircuitBreaker())
        let reporter = StateMetrics(of: source, breaker, by: metrics)
        var state = StateMetrics.Reported()
        for step in 1...4 {
            source.numbers.withLock {
                $0 = [Figure("busy", Double(step) * 0.75, .total), Figure("open", 3, by: ["origin": "a"])]
            }
            await reporter.report(&state)
        }
        #expect(metrics.counterTotal(label: "busy") == 3)
        let (busy, open) = (metrics.counters(label: "busy").first, metrics.meters(label: "open").first)
        source.numbers.withLock { $0 = [] }
        await reporter.report(&state)
        await reporter.report(&state)
        #expect(open?.values == [3, 3, 3, 3, 0] && metrics.meters(label: "open").isEmpty)
        #expect(busy != nil && metrics.counters(label: "busy").isEmpty)
    }

    @Test func `the state of a breaker and of a limit is visible`() async throws {
        var options = CircuitBreaker.Options()
        (options.minimumOutcomes, options.firstBreakTime, options.breakTime) = (1, .seconds(600), .seconds(600))
        var resilience = Resilience.standard
        resilience.breaker = CircuitBreaker(options: options)
        resilience.retries.maximumRetries = 0
        let client = NetworkClient(transport: StubTransport(always: .status(500)), baseURL: "http://h:81")
            .resilient(resilience)
        await #expect(throws: NetworkError.self) { try await client.send(RequestData(path: "a"), as: .text) }
        var state = StateMetrics.Reported()
        await StateMetrics(of: client, by: metrics).report(&state)
        let open = try #require(metrics.meters(label: "networklayer.breaker.open").first)
        #expect(dimensions(open) == ["key": "http://h:81"] && open.lastValue == 1)
        #expect(metrics.meters(label: "networklayer.limit.places").map(\.lastValue) == [100])
        #expect(metrics.meters(label: "networklayer.limit.running").map(\.lastValue) == [0])
    }
}
