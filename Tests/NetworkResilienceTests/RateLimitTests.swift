import Foundation
import HTTPTypes
import NetworkCore
import NetworkTesting
import TestSupport
import Testing

@testable import NetworkResilience

/// The token bucket, and what servers ask for.
@Suite("The limit of the rate")
struct RateLimitTests {
    private let clock = ManualClock()

    @Test func `a burst goes out at once, and the rest at the rate`() async {
        let stub = StubTransport(always: .text(""))
        let limit = RateLimit(2, per: .seconds(1), burst: 3, maximumWait: .seconds(10), clock: clock)
        let client = NetworkClient(stub, limit)
        for _ in 0..<3 { #expect(await client.outcome() == "200") }
        #expect(limit.waits == ["http://h:80": .milliseconds(500)])
        async let fourth = client.outcome()
        await clock.waitForSleepers(1)
        async let fifth = client.outcome()
        await clock.waitForSleepers(2)
        clock.advance(by: .milliseconds(500))
        #expect(await fourth == "200" && stub.sent.count == 4)
        clock.advance(by: .milliseconds(500))
        #expect(await fifth == "200")
        clock.advance(by: .seconds(60))
        for _ in 0..<3 { #expect(await client.outcome() == "200") }
        #expect(stub.sent.count == 8)
    }

    @Test func `a request that would wait for too long is refused and takes no token`() async {
        let client = NetworkClient(
            StubTransport(always: .text("")),
            RateLimit(1, per: .seconds(10), maximumWait: .seconds(5), clock: clock))
        #expect(await client.outcome() == "200")
        for _ in 0..<100 { #expect(await client.outcome() == "overloaded") }
        clock.advance(by: .seconds(10))
        #expect(await client.outcome() == "200")
    }

    @Test(
        arguments: [
            (429, ["Retry-After": "3"], 3), (503, ["Retry-After": "3"], 3), (200, ["Retry-After": "3"], nil),
            (200, ["RateLimit": "\"default\";r=0;t=30"], 30), (200, ["RateLimit": "\"default\";r=5;t=30"], nil),
            (200, ["RateLimit": "\"a\"; r=0 ; t=4"], 4), (200, ["RateLimit": "r=0;t=-5"], nil),
            (200, ["RateLimit": ";;=;"], nil),
            (200, ["X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "7"], 7),
            (200, ["X-RateLimit-Remaining": "1", "X-RateLimit-Reset": "7"], nil),
            (200, ["X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "1000000001"], 0),
            (429, ["Retry-After": "99999999999999999999"], 60), (200, [:], nil),
        ] as [(Int, [String: String], Int?)])
    func `a server's wish is a pause`(status: Int, fields: [String: String], seconds: Int?) async {
        let stub = StubTransport()
        var headerFields = HTTPFields()
        for (name, value) in fields { headerFields[HTTPField.Name(name)!] = value }
        stub.when(.any, .status(status, headerFields: headerFields))
        let limit = RateLimit(1_000_000, per: .seconds(1), burst: 1_000, clock: clock)
        #expect(await NetworkClient(stub, limit).outcome() == "\(status)")
        #expect(limit.waits["http://h:80"] == .seconds(seconds ?? 0))
    }

    /// The mean wait of an M/D/1 queue: Poisson arrivals, and a server that takes the same time for each.
    @Test(arguments: [0.5, 0.8, 0.9]) func `the mean wait is that of the formula`(utilization: Double) throws {
        let bucket = Bucket(interval: .milliseconds(10), burst: 1)
        var (now, sum, generator) = (0.0, 0.0, SeededGenerator(seed: 3))
        let count = 400_000
        for _ in 0..<count {
            now += generator.exponential(rate: 100 * utilization)
            let wait = try bucket.take(at: .seconds(now), waitingAtMost: .seconds(1_000)).get()
            sum += wait / .seconds(1)
        }
        let expected = 0.01 * utilization / (2 * (1 - utilization))
        #expect(abs(sum / Double(count) / expected - 1) < 0.05)
    }
}
