import NetworkCore
import NetworkTesting
import TestSupport
import Testing

@testable import NetworkResilience

/// The states of a breaker.
@Suite("The circuit breaker")
struct CircuitBreakerTests {
    private let clock = ManualClock()

    private func breaker(minimum: Int = 4, ratio: Double = 0.5, probes: Int = 1) -> CircuitBreaker {
        var options = CircuitBreaker.Options()
        (options.minimumOutcomes, options.failureRatio, options.probes) = (minimum, ratio, probes)
        return CircuitBreaker(options: options, clock: clock)
    }

    private func outcomes(_ client: NetworkClient, _ count: Int) async -> [String] {
        var outcomes: [String] = []
        for _ in 0..<count { outcomes.append(await client.outcome()) }
        return outcomes
    }

    @Test func `it opens at the ratio, refuses, probes and closes`() async throws {
        let stub = StubTransport()
        stub.when(.any, .text(""), .text(""), .status(500), .failure(NetworkError.connectTimeout), .text(""), .text(""))
        let breaker = breaker()
        let client = NetworkClient(stub, breaker)
        #expect(await outcomes(client, 6) == ["200", "200", "500", "connectTimeout", "circuitOpen", "circuitOpen"])
        #expect(breaker.states == ["http://h:80": .open(remaining: .seconds(1))] && stub.sent.count == 4)
        clock.advance(by: .seconds(1))
        #expect(breaker.states == ["http://h:80": .halfOpen])
        #expect(await outcomes(client, 2) == ["200", "200"])
        #expect(breaker.states == ["http://h:80": .closed])
    }

    @Test func `a probe that fails opens it for twice the time, and a success begins anew`() async {
        let stub = StubTransport()
        stub.when(.any, .status(503), .status(503), .status(503), .status(503), .status(503), .text(""))
        stub.always(.any, .status(503))
        let breaker = breaker(minimum: 1)
        let client = NetworkClient(stub, breaker)
        func broken(_ seconds: Int) async {
            #expect(await outcomes(client, 2) == ["503", "circuitOpen"])
            #expect(breaker.states == ["http://h:80": .open(remaining: .seconds(seconds))])
            clock.advance(by: .seconds(seconds))
        }
        for seconds in [1, 2, 4, 5, 5] { await broken(seconds) }
        #expect(await client.outcome() == "200")
        await broken(1)
    }

    @Test func `an error of an open breaker names the time`() async {
        let client = NetworkClient(StubTransport(always: .status(503)), breaker(minimum: 1))
        #expect(await client.outcome() == "503")
        clock.advance(by: .milliseconds(500))
        let error = await expectFailure(.circuitOpen, in: .preparing) {
            try await client.send(RequestData(path: "a"), as: .text)
        }
        #expect(error?.message.contains("http://h:80") == true && error?.message.contains("for 500.0 ms more") == true)
    }

    @Test func `only the probes go out while it is half-open`() async throws {
        let timed = StubTransport(clock: clock)
        timed.when(.any, .status(500))
        timed.always(.any, .text("").after(.seconds(1)))
        let client = NetworkClient(timed, breaker(minimum: 1, probes: 2))
        #expect(await client.outcome() == "500")
        clock.advance(by: .seconds(5))
        async let first = client.outcome()
        async let second = client.outcome()
        await clock.waitForSleepers(2)
        #expect(await client.outcome() == "circuitOpen")
        clock.advance(by: .seconds(1))
        #expect(await [first, second] == ["200", "200"])
        async let third = client.outcome()
        await clock.waitForSleepers(1)
        clock.advance(by: .seconds(1))
        #expect(await third == "200")
    }

    @Test func `few outcomes, and old ones, open nothing`() async {
        let stub = StubTransport(always: .status(500))
        let client = NetworkClient(stub, breaker(minimum: 4))
        #expect(await outcomes(client, 3) == ["500", "500", "500"])
        clock.advance(by: .seconds(31))
        #expect(await outcomes(client, 4) == ["500", "500", "500", "500"])
        #expect(await client.outcome() == "circuitOpen")
    }

    @Test func `what is no trouble of the server opens nothing`() async {
        let stub = StubTransport()
        stub.when(
            .any, .status(404), .status(400), .failure(NetworkError.cancelled), .failure(NetworkError.invalidURL))
        let client = NetworkClient(stub, breaker(minimum: 1, ratio: 0.01))
        #expect(await outcomes(client, 4) == ["404", "400", "cancelled", "invalidURL"])
    }

    @Test func `a probe that never reached the server closes nothing`() async {
        let stub = StubTransport()
        stub.when(.any, .status(500), .failure(NetworkError(.overloaded, "", phase: .queued)), .status(500))
        let breaker = breaker(minimum: 1)
        let client = NetworkClient(stub, breaker)
        #expect(await client.outcome() == "500")
        clock.advance(by: .seconds(5))
        #expect(await outcomes(client, 3) == ["overloaded", "500", "circuitOpen"])
    }

    @Test func `each key has a circuit, and idle ones make room`() async {
        let breaker = breaker(minimum: 2)
        let client = NetworkClient(StubTransport(always: .status(500)), breaker)
        #expect(await outcomes(client, 3) == ["500", "500", "circuitOpen"])
        for number in 0..<1_100 {
            #expect(await client.outcome("http://h\(number)/") == "500")
            clock.advance(by: .seconds(31))
        }
        #expect(breaker.states.count <= ResilienceKey.maximumNames)
    }

    @Test func `an outcome of an earlier state does not count`() async {
        let timed = StubTransport(clock: clock)
        timed.when(.any, .status(500).after(.seconds(1)), .status(500))
        timed.always(.any, .text(""))
        let client = NetworkClient(timed, breaker(minimum: 1))
        async let late = client.outcome()
        await clock.waitForSleepers(1)
        #expect(await client.outcome() == "500")
        clock.advance(by: .seconds(5))
        #expect(await late == "500")
        #expect(await client.outcome() == "200")
    }
}
