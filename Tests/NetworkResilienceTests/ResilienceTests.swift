import Foundation
import HTTPTypes
import NetworkCore
import NetworkTesting
import Testing

@testable import NetworkResilience

/// The steps together.
@Suite("Resilience")
struct ResilienceTests {
    private func quick() -> Resilience {
        var resilience = Resilience.standard
        resilience.retries.baseDelay = .zero
        return resilience
    }

    @Test func `attempts are retried, and the breaker sees each of them`() async {
        var (resilience, options) = (quick(), CircuitBreaker.Options())
        options.minimumOutcomes = 4
        resilience.breaker = CircuitBreaker(options: options)
        let stub = StubTransport(always: .status(503))
        let client = NetworkClient(transport: stub).resilient(resilience)
        #expect(await client.outcome() == "503" && stub.sent.count == 3)
        #expect(await client.outcome() == "circuitOpen" && stub.sent.count == 4)
    }

    @Test func `an attempt that takes too long is cancelled and retried`() async {
        var resilience = quick()
        resilience.attemptTimeout = .milliseconds(50)
        let stub = StubTransport()
        stub.when(.any, .text("").after(.seconds(600)), .status(201))
        #expect(await NetworkClient(transport: stub).resilient(resilience).outcome() == "201")
        resilience.retries.maximumRetries = 0
        let slow = StubTransport(always: .text("").after(.seconds(600)))
        #expect(await NetworkClient(transport: slow).resilient(resilience).outcome() == "attemptTimeout")
    }

    @Test func `a call has one place for all its attempts`() async {
        var resilience = quick()
        let limit = ConcurrencyLimit(.fixed(1), maximumQueued: 0)
        resilience.concurrency = limit
        let stub = StubTransport()
        stub.when(.any, .status(503), .failure(NetworkError.connectTimeout), .text(""))
        #expect(await NetworkClient(transport: stub).resilient(resilience).outcome() == "200")
        #expect(limit.states["http://h:80"]?.running == 0 && stub.sent.count == 3)
    }

    @Test func `the total timeout is the client's if it has one`() {
        let client = NetworkClient(transport: StubTransport())
        #expect(client.resilient().options.totalTimeout == .seconds(30))
        #expect(client.with { $0.options.totalTimeout = .seconds(3) }.resilient().options.totalTimeout == .seconds(3))
    }

    @Test func `a fallback replaces trouble and nothing else`() async throws {
        let stub = StubTransport()
        stub.when(
            .any, .status(503), .failure(NetworkError.connectTimeout), .status(404), .failure(NetworkError.cancelled))
        let client = NetworkClient(
            stub,
            Fallback { request, error in
                guard request.url.path == "/a" else { return nil }
                let head = HTTPResponse(status: error == nil ? .init(code: 299) : .init(code: 298))
                return TransportResponse(head: head, body: TransportResponse.Body(Data()))
            })
        var outcomes: [String] = []
        for _ in 0..<4 { outcomes.append(await client.outcome()) }
        #expect(outcomes == ["299", "298", "404", "cancelled"])
        stub.when(.any, .status(500))
        #expect(await client.outcome("http://h/b") == "500")
    }
}
