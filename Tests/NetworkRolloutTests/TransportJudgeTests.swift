import NetworkLayer
import TestSupport
import Testing

@testable import NetworkRollout

/// When a canary is worse; see ``TransportOnTrialTests`` for the name.
@Suite(.patience(minutes: 1))
struct TransportJudgeTests {
    private var half = CanaryTransport.Options()

    init() { half.share = 0.5 }

    /// Regression: each latency of the canary was compared with an earlier one of the first transport.
    @Test func `a transport is no worse than itself, whatever its latencies do`() {
        var generator = SeededGenerator(seed: 8)
        for _ in 0..<50 {
            var options = half
            options.share = 0.2
            var judge = CanaryJudge(options, arms: ("same", "same"))
            for number in 0..<4_000 {
                let arm: CanaryJudge.Arm = Double.random(in: 0..<1, using: &generator) < 0.2 ? .canary : .primary
                judge.add(arm, isFailed: false, .milliseconds(1 << (number % 5)))
            }
            #expect(judge.verdict == nil, "\(judge.counts)")
        }
    }

    @Test func `a canary that is slower than the tolerance is dropped, and one within it is not`() throws {
        var generator = SeededGenerator(seed: 7)
        for (factor, isDropped) in [(1.0, false), (1.2, false), (1.6, true)] {
            var judge = CanaryJudge(half, arms: ("first", "canary"))
            for _ in 0..<5_000 {
                // A long tail, and a machine that is slower at times.
                let times = (0..<2).map { _ in Double.random(in: 1...2, using: &generator) }
                judge.add(.primary, isFailed: false, .milliseconds(10 * times[0]))
                judge.add(.canary, isFailed: false, .milliseconds(10 * times[1] * factor))
            }
            #expect((judge.verdict?.reason == .latency) == isDropped, "\(factor): \(judge.counts)")
        }
    }

    private func judged(
        _ count: Int = 2_000, seed: UInt64 = 9, _ options: CanaryTransport.Options? = nil,
        canary: (Double, inout SeededGenerator) -> Duration, primary: (Double, inout SeededGenerator) -> Duration
    ) -> CanaryJudge {
        var generator = SeededGenerator(seed: seed)
        var judge = CanaryJudge(options ?? half, arms: ("first", "canary"))
        for _ in 0..<count {
            let draw = Double.random(in: 0..<1, using: &generator)
            let isCanary = Bool.random(using: &generator)
            let time = isCanary ? canary(draw, &generator) : primary(draw, &generator)
            judge.add(isCanary ? .canary : .primary, isFailed: false, time)
        }
        return judge
    }

    @Test func `microseconds end no canary, whatever their ratio`() {
        let near = judged { _, _ in
            .milliseconds(2)
        } primary: { _, _ in
            .milliseconds(1)
        }
        #expect(near.verdict == nil)
        let far = judged { _, _ in
            .milliseconds(20)
        } primary: { _, _ in
            .milliseconds(10)
        }
        #expect(far.verdict?.reason == .latency)
    }

    @Test func `a tenth of the requests at ten times the time ends a canary, and the log has both tails`() throws {
        let judge = judged { draw, _ in
            .milliseconds(draw < 0.1 ? 200 : 20)
        } primary: { _, _ in
            .milliseconds(20)
        }
        let end = try #require(judge.verdict)
        #expect(end.reason == .tail)
        let (canary, primary) = (try #require(end.counts.canaryTimes), try #require(end.counts.primaryTimes))
        #expect((19...21).contains(canary.median / .milliseconds(1)))
        #expect((190...210).contains(canary.percentile95 / .milliseconds(1)))
        #expect((19...21).contains(primary.percentile95 / .milliseconds(1)))
        #expect("\(end)".contains("canary: 0 of \(end.counts.canary) failed (0 %), median "))
        #expect("\(end)".contains(" 95th percentile \(canary.percentile95.shortText); first: 0 of "))
    }

    /// Regression: a request that its deadline had ended counted as a slow one besides, and that test was first.
    @Test func `slow failures are failures`() {
        var judge = CanaryJudge(half, arms: ("first", "canary"))
        for number in 0..<200 {
            let isCanary = number.isMultiple(of: 2)
            // Fails too rarely for a verdict so soon.
            judge.add(isCanary ? .canary : .primary, isFailed: true, .seconds(isCanary ? 30 : 1))
        }
        #expect(judge.verdict == nil && judge.counts.pairs == 0)
    }

    @Test func `equal transports end a canary no more often than is promised`() {
        var options = half
        options.share = 0.2
        options.falseAlarms = 0.1
        var generator = SeededGenerator(seed: 19)
        var alarms = 0
        for _ in 0..<200 {
            var judge = CanaryJudge(options, arms: ("same", "same"))
            for _ in 0..<1_000 where judge.verdict == nil {
                let arm: CanaryJudge.Arm = Double.random(in: 0..<1, using: &generator) < 0.2 ? .canary : .primary
                let isFailed = Double.random(in: 0..<1, using: &generator) < 0.05
                // A long tail: times of 5 ms to seconds.
                let time = 5 / Double.random(in: 0.001..<1, using: &generator)
                judge.add(arm, isFailed: isFailed, .milliseconds(time))
            }
            if judge.verdict != nil { alarms += 1 }
        }
        #expect(alarms <= 20)
    }
}
