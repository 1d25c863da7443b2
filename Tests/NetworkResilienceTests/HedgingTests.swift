import HTTPTypes
import NetworkCore
import NetworkTesting
import Testing

@testable import NetworkResilience

/// The second request for a slow one.
@Suite("Hedging")
struct HedgingTests {
    private let clock = ManualClock()

    private func client(_ stub: StubTransport, budget: RetryInterceptor.Budget? = nil) -> NetworkClient {
        NetworkClient(stub, Hedging(initialDelay: .seconds(1), budget: budget, clock: clock))
    }

    @Test func `a slow request is sent again, and the first response counts`() async throws {
        let stub = StubTransport(clock: clock)
        stub.when(.any, .status(201).after(.seconds(30)), .status(202))
        async let outcome = client(stub).outcome()
        await clock.waitForSleepers(2)
        clock.advance(by: .seconds(1))
        #expect(await outcome == "202" && stub.sent.count == 2)
    }

    @Test func `a fast request is sent once`() async throws {
        let stub = StubTransport(always: .status(201))
        #expect(await client(stub).outcome() == "201" && stub.sent.count == 1)
    }

    @Test(arguments: [HTTPRequest.Method.post, .patch]) func `a request that may not be sent twice is not`(
        method: HTTPRequest.Method
    ) async {
        let stub = StubTransport(clock: clock)
        stub.when(.any, .status(201).after(.seconds(30)))
        async let outcome = client(stub).outcome("http://h/a", method)
        await clock.waitForSleepers(1)
        clock.advance(by: .seconds(30))
        #expect(await outcome == "201" && stub.sent.count == 1)
    }

    @Test func `without a budget there is no second request`() async {
        let stub = StubTransport(clock: clock)
        stub.when(.any, .status(201).after(.seconds(30)))
        async let outcome = client(stub, budget: .init(capacity: 0)).outcome()
        await clock.waitForSleepers(2)
        clock.advance(by: .seconds(30))
        #expect(await outcome == "201" && stub.sent.count == 1)
    }

    @Test func `a failure waits for the other request, and is the outcome when both fail`() async {
        let stub = StubTransport(clock: clock)
        stub.when(
            .any, .failure(NetworkError.connectTimeout).after(.seconds(3)), .status(202).after(.seconds(5)),
            .failure(NetworkError.connectTimeout).after(.seconds(3)),
            .failure(NetworkError.idleTimeout).after(.seconds(5)))
        for expected in [["202"], ["connectTimeout", "idleTimeout"]] {
            async let outcome = client(stub).outcome()
            await clock.waitForSleepers(2)
            clock.advance(by: .seconds(1))
            await clock.waitForSleepers(2)
            clock.advance(by: .seconds(2))
            await clock.waitForSleepers(1)
            clock.advance(by: .seconds(10))
            #expect(expected.contains(await outcome))
        }
    }

    @Test func `a refusal of the second request does not beat the first one`() async {
        let stub = StubTransport(clock: clock)
        stub.when(.any, .status(201).after(.seconds(3)), .status(503), .status(503).after(.seconds(3)), .status(429))
        for expected in [["201"], ["503", "429"]] {
            async let outcome = client(stub).outcome()
            await clock.waitForSleepers(2)
            clock.advance(by: .seconds(1))
            while stub.sent.count.isMultiple(of: 2) == false { await Task.yield() }
            clock.advance(by: .seconds(2))
            #expect(expected.contains(await outcome))
        }
    }

    @Test func `the delay follows the times of the route`() async {
        let stub = StubTransport(clock: clock)
        for _ in 0..<Hedging.minimumTimes { stub.when(.any, .status(200).after(.milliseconds(100))) }
        stub.when(.any, .status(201).after(.seconds(30)), .status(202))
        let client = client(stub)
        for _ in 0..<Hedging.minimumTimes {
            async let outcome = client.outcome()
            await clock.waitForSleepers(2)
            clock.advance(by: .milliseconds(100))
            #expect(await outcome == "200")
        }
        async let slow = client.outcome()
        await clock.waitForSleepers(2)
        clock.advance(by: .milliseconds(100))
        #expect(await slow == "202")
    }
}
