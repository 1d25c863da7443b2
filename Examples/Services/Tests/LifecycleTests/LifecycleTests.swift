import MetricsTestKit
import NetworkLayer
import NetworkTelemetry
import NetworkTesting
import ServiceLifecycle
import ServiceLifecycleTestKit
import Testing

/// Clients and reports as services. URLSession's transport is the process's only one, so its test ends with it.
@Suite("Services", .serialized, .timeLimit(.minutes(2)))
struct LifecycleTests {
    private static func code(_ work: () async throws -> Void) async -> NetworkError.Code? {
        do {
            try await work()
            return nil
        } catch { return (error as? NetworkError)?.code }
    }

    private static let late = "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nlate"

    /// Shuts a service down while one request waits for its response, which comes, and one never gets any.
    private static func end(_ transport: any HTTPTransport, patience: Duration) async throws {
        let gate = Gate()
        let server = try ScriptedServer([.read, .wait(until: gate), .send(late)])
        let silent = try ScriptedServer([.read, .stall])
        defer { [server, silent].forEach { $0.stop() } }
        let client = NetworkClient(transport: transport)
        let running = Task { try await client.send(RequestData(url: server.url()), as: .text).body }
        let lost = Task { try await client.send(RequestData(url: silent.url()), as: .text).body }
        try await server.wait { !$0.requests.isEmpty }
        try await silent.wait { !$0.requests.isEmpty }
        try await testGracefulShutdown { trigger in
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { try await NetworkService(client, patience: patience).run() }
                trigger.triggerGracefulShutdown()
                // The shutdown has begun when a new request is refused.
                while await code({ _ = try await client.send(RequestData(url: "http://127.0.0.1:9"), as: .text) })
                    != .shutDown
                { await Task.yield() }
                gate.open()
                #expect(try await running.value == "late")
                #expect(await code { _ = try await lost.value } == .shutDown)
                try await group.waitForAll()
            }
        }
    }

    @Test func `a client over curl lets requests end, for as long as it has patience`() async throws {
        try await Self.end(CurlNetworkDispatcher(), patience: .seconds(1))
    }

    @Test func `reports end with a last one`() async throws {
        let metrics = TestMetrics()
        let reports = StateMetrics(of: CurlNetworkDispatcher(), every: .seconds(3_600), by: metrics)
        try await testGracefulShutdown { trigger in
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { try await (reports as any Service).run() }
                while metrics.meters.isEmpty { await Task.yield() }
                trigger.triggerGracefulShutdown()
                try await group.waitForAll()
            }
        }
        let longest = try #require(metrics.meters(label: "networklayer.loop.longest_round_seconds").first)
        #expect(longest.values.count == 2)
    }

    @Test func `a cancelled service ends at once`() async throws {
        let silent = try ScriptedServer([.read, .stall])
        defer { silent.stop() }
        let client = NetworkClient(transport: CurlNetworkDispatcher())
        let lost = Task { try await client.send(RequestData(url: silent.url()), as: .text).body }
        try await silent.wait { !$0.requests.isEmpty }
        await testGracefulShutdown { trigger in
            let service = Task { try await NetworkService(client, patience: .seconds(3_600)).run() }
            trigger.triggerGracefulShutdown()
            service.cancel()
            #expect(await Self.code { _ = try await lost.value } == .shutDown)
            _ = try? await service.value
        }
    }

    @Test func `URLSession's transport lets requests end, for as long as it has patience`() async throws {
        try await Self.end(URLSessionNetworkDispatcher.shared, patience: .seconds(1))
    }
}
