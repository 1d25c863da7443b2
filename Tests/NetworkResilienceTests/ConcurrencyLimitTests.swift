import Foundation
import NetworkCore
import NetworkTesting
import Synchronization
import TestSupport
import Testing

@testable import NetworkResilience

/// The places of a limit, and how an adaptive one moves.
@Suite("The limit of concurrency")
struct ConcurrencyLimitTests {
    private let clock = ManualClock()

    @Test func `requests beyond the limit wait in order, and each gets the place of one that ends`() async {
        let stub = StubTransport(clock: clock)
        stub.always(.any, .text("").after(.seconds(1)))
        let limit = ConcurrencyLimit(.fixed(2), maximumWait: .seconds(100), clock: clock)
        let client = NetworkClient(stub, limit)
        await withTaskGroup(of: String.self) { group in
            for number in 0..<6 {
                group.addTask { await client.outcome("http://h/\(number)") }
                // Two wait for their responses, and the others on the limit's own clock.
                await clock.waitForSleepers(number + 1)
            }
            #expect(limit.states == ["http://h:80": .init(limit: 2, maximum: 2, running: 2, waiting: 4)])
            for round in 1...3 {
                #expect(stub.sent.map(\.target) == (0..<(2 * round)).map { "/\($0)" })
                clock.advance(by: .seconds(1))
                if round < 3 { while stub.sent.count < 2 * round + 2 { await Task.yield() } }
                if round < 3 { await clock.waitForSleepers(6 - 2 * round) }
            }
            for await outcome in group { #expect(outcome == "200") }
        }
        #expect(limit.states == ["http://h:80": .init(limit: 2, maximum: 2, running: 0, waiting: 0)])
    }

    @Test func `a request that finds the queue full, or waits for too long, is refused unsent`() async throws {
        let stub = StubTransport(clock: clock)
        stub.always(.any, .text("").after(.seconds(10)))
        let client = NetworkClient(stub, ConcurrencyLimit(.fixed(1), maximumQueued: 1, clock: clock))
        async let first = client.outcome()
        await clock.waitForSleepers(1)
        async let second = client.outcome()
        await clock.waitForSleepers(2)
        #expect(await client.outcome() == "overloaded")
        clock.advance(by: .seconds(1))
        #expect(await second == "overloaded")
        clock.advance(by: .seconds(9))
        #expect(await first == "200" && stub.sent.count == 1)
    }

    @Test(arguments: [
        ConcurrencyLimit.Limit.fixed(.max), .adaptive(upTo: .max, from: .min, initial: .max), .fixed(.min),
    ])
    func `extreme limits are clamped`(limit: ConcurrencyLimit.Limit) async {
        #expect(await NetworkClient(StubTransport(always: .text("")), ConcurrencyLimit(limit)).outcome() == "200")
    }

    @Test func `a place is kept until the body has ended`() async throws {
        let stub = StubTransport(always: .chunks([Data("a".utf8), Data("b".utf8)]))
        let limit = ConcurrencyLimit(.fixed(1), maximumQueued: 0)
        let client = NetworkClient(stub, limit)
        let response = try await client.send(RequestData(path: "a"), as: .stream)
        #expect(await client.outcome() == "overloaded")
        for try await _ in response.body {}
        #expect(await client.outcome() == "200")
    }

    @Test func `however requests end, all places are given back`() async {
        let stub = StubTransport()
        stub.always(.get("/ok"), .text("x"))
        stub.always(.get("/bad"), .failure(NetworkError.connectTimeout))
        let limit = ConcurrencyLimit(.adaptive(upTo: 8, initial: 4), maximumQueued: 20, maximumWait: .milliseconds(2))
        let client = NetworkClient(stub, limit)
        await withTaskGroup(of: Void.self) { group in
            for number in 0..<2_000 {
                group.addTask {
                    let task = Task { await client.outcome(number.isMultiple(of: 3) ? "http://h/bad" : "http://h/ok") }
                    if number.isMultiple(of: 5) { task.cancel() }
                    _ = await task.value
                }
            }
        }
        #expect(limit.states["http://h:80"].map { $0.running == 0 && $0.waiting == 0 } == true)
    }

    @Test func `an adaptive limit grows while it is used, and falls once for each round`() {
        let gate = PlaceGate(ConcurrencyLimit.Limit.adaptive(upTo: 100, initial: 10))
        func enter() -> PlaceGate.Place? {
            if case .place(let place) = gate.arrive(maximumQueued: 0) { return place }
            return nil
        }
        func round(isOverload: Bool) {
            var places: [PlaceGate.Place] = []
            while let place = enter() { places.append(place) }
            #expect(places.count == gate.shown.limit)
            for place in places { gate.leave(place, isOverload: isOverload) }
        }
        for _ in 0..<20 { round(isOverload: false) }
        let grown = gate.shown.limit
        #expect((16...30).contains(grown))
        round(isOverload: true)
        #expect((Double(grown) * 0.7 - 1...Double(grown) * 0.7 + 1).contains(Double(gate.shown.limit)))
        // Requests that use little of it say nothing of what the server can take, whether they succeed or fail.
        let fallen = gate.shown.limit
        for number in 0..<1_000 { enter().map { gate.leave($0, isOverload: number.isMultiple(of: 3)) } }
        #expect(gate.shown.limit == fallen)
    }

    /// Erlang's formula B: the share of Poisson arrivals that find all c places taken.
    @Test(arguments: [(load: 4.0, places: 5), (8.0, 10), (20.0, 20)])
    func `the share of refused requests is that of the formula`(load: Double, places: Int) {
        let gate = PlaceGate(.fixed(places))
        var generator = SeededGenerator(seed: 7)
        var (now, ends, refused): (Double, [(Double, PlaceGate.Place)], Int) = (0, [], 0)
        let arrivals = 200_000
        for _ in 0..<arrivals {
            now += generator.exponential(rate: load)
            for (end, place) in ends where end <= now {
                gate.leave(place, isOverload: false)
                _ = end
            }
            ends.removeAll { $0.0 <= now }
            switch gate.arrive(maximumQueued: 0) {
            case .place(let place): ends.append((now + generator.exponential(rate: 1), place))
            default: refused += 1
            }
        }
        let blocking = (1...places).reduce(1.0) { $1 == 0 ? $0 : load * $0 / (Double($1) + load * $0) }
        #expect(abs(Double(refused) / Double(arrivals) / blocking - 1) < 0.05)
    }
}

extension SeededGenerator {
    /// The time to the next event of a Poisson process.
    mutating func exponential(rate: Double) -> Double { -log(Double.random(in: 0..<1, using: &self).nextUp) / rate }
}
