import Foundation
import HTTPTypes
import NetworkCore
import NetworkTesting
import Synchronization
import TestSupport
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
        resilience.breaker = CircuitBreaker(options: options, clock: ManualClock())
        let stub = StubTransport(always: .status(503))
        let client = NetworkClient(transport: stub).resilient(resilience)
        #expect(await client.outcome() == "503" && stub.sent.count == 3)
        #expect(await client.outcome() == "circuitOpen" && stub.sent.count == 4)
    }

    @Test func `an attempt that takes too long is cancelled and retried`() async {
        var resilience = quick()
        // The second one has to end within it.
        resilience.attemptTimeout = .seconds(patienceFactor)
        let stub = StubTransport()
        stub.when(.any, .text("").after(.seconds(600)), .status(201))
        #expect(await NetworkClient(transport: stub).resilient(resilience).outcome() == "201")
        resilience.retries.maximumRetries = 0
        let slow = StubTransport(always: .text("").after(.seconds(600)))
        let seen = Witness()
        let client = NetworkClient(transport: slow).resilient(resilience).with { $0.exchangeInterceptors = [seen] }
        #expect(await client.outcome() == "attemptTimeout")
        // Not 'cancelled', which in metrics and logs would be the caller's doing.
        #expect(seen.codes.withLock(\.self) == [.attemptTimeout])
    }

    @Test func `an attempt has a place, and a pause between two has none`() async {
        let clock = ManualClock()
        var resilience = Resilience.standard
        let limit = ConcurrencyLimit(.fixed(1), maximumQueued: 0)
        (resilience.concurrency, resilience.attemptTimeout, resilience.totalTimeout) = (limit, nil, nil)
        let stub = StubTransport()
        stub.when(.get("/a"), .status(503, headerFields: [.retryAfter: "5"]), .text(""))
        stub.always(.get("/b"), .text(""))
        let client = NetworkClient(transport: stub).resilient(resilience).with {
            $0.interceptors[0] = .retry(time: TimeSource(clock: clock))
        }
        async let first = client.outcome()
        await clock.waitForSleepers(1)
        // The response that is discarded is read meanwhile.
        while limit.states["http://h:80"]?.running != 0 { await Task.yield() }
        #expect(await client.outcome("http://h/b") == "200")
        clock.advance(by: .seconds(6))
        #expect(await first == "200" && limit.states["http://h:80"]?.running == 0)
    }

    @Test func `a rate holds for each attempt`() async {
        var resilience = quick()
        resilience.rate = RateLimit(1, per: .seconds(600), burst: 2, maximumWait: .zero)
        let stub = StubTransport(always: .status(503))
        #expect(await NetworkClient(transport: stub).resilient(resilience).outcome() == "overloaded")
        #expect(stub.sent.count == 2)
    }

    /// The deadline of a call cancels its steps, which is no cancellation by the caller.
    @Test func `a call that runs out of its time is a failure of the server`() async {
        var options = CircuitBreaker.Options()
        options.minimumOutcomes = 1
        let breaker = CircuitBreaker(options: options)
        let limit = ConcurrencyLimit(.adaptive(initial: 2))
        var client = NetworkClient(StubTransport(always: .text("").after(.seconds(600))), limit, breaker)
        client.options.totalTimeout = .milliseconds(50)
        await expectFailure(.totalTimeout) { [client] in
            try await client.send(RequestData(path: "a"), as: .text).body
        }
        #expect(breaker.states["http://h:80"] != .closed && limit.states["http://h:80"]?.limit == 1)
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

/// Notes what an exchange's failure is in metrics, spans and logs.
private final class Witness: Interceptor {
    let codes = Guarded<[NetworkError.Code?]>([])

    func intercept(_ request: TransportRequest, in call: Call, next: Next) async throws -> TransportResponse {
        do { return try await next(request) } catch {
            codes.withLock { $0.append(NetworkError.code(of: call.reported(error))) }
            throw error
        }
    }
}
