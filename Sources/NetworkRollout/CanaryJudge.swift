import Foundation
import NetworkComparison
import NetworkCore

/// Decides whether a canary is worse than the primary.
struct CanaryJudge: Sendable {
    enum Arm: Sendable { case primary, canary }

    /// How many requests of the primary are judged for each of the canary.
    static let controls = 4.0

    /// A pair counts for the tail if one of its times is this many times the other.
    static let extreme = 3.0

    private var tallies = CanaryTransport.Counts()
    private var primaryTimes = TimeHistogram()
    private var canaryTimes = TimeHistogram()
    private(set) var verdict: CanaryTransport.Return?
    private var failures: SequentialProportion
    private var slower = SequentialProportion(probability: 0.5)
    private var tail = SequentialProportion(probability: 0.5)
    /// The latency of a judged request, until the next one is there.
    private var single: (arm: Arm, latency: Duration)?
    private let options: CanaryTransport.Options
    private let arms: (primary: String, canary: String)

    init(_ options: CanaryTransport.Options, arms: (primary: String, canary: String)) {
        (self.options, self.arms) = (options, arms)
        let judged = min(1, options.share * (1 + Self.controls))
        failures = SequentialProportion(probability: options.share / judged)
    }

    var counts: CanaryTransport.Counts {
        var counts = tallies
        (counts.primaryTimes, counts.canaryTimes) = (primaryTimes.summary, canaryTimes.summary)
        return counts
    }

    mutating func add(_ arm: Arm, isFailed: Bool, _ latency: Duration?) {
        guard verdict == nil else { return }
        count(arm, isFailed: isFailed)
        // Three tests share the chance of a false alarm.
        let doubt = options.falseAlarms / 3
        if isFailed {
            // The time of a failure says nothing of speed: a request that its deadline ends would count twice.
            failures.add(arm == .canary)
            if failures.isExceeded(falseAlarms: doubt) { end(.failures) }
        } else if let latency {
            pair(arm, latency)
            if slower.isExceeded(falseAlarms: doubt) {
                end(.latency)
            } else if tail.isExceeded(falseAlarms: doubt) {
                end(.tail)
            }
        }
    }

    private mutating func count(_ arm: Arm, isFailed: Bool) {
        switch arm {
        case .primary:
            tallies.primary += 1
            if isFailed { tallies.primaryFailures += 1 }
        case .canary:
            tallies.canary += 1
            if isFailed { tallies.canaryFailures += 1 }
        }
    }

    /// Compares two requests in a row, if each is of one arm: which one is the canary's is a coin, at any time.
    private mutating func pair(_ arm: Arm, _ latency: Duration) {
        if arm == .canary { canaryTimes.add(latency) } else { primaryTimes.add(latency) }
        guard let other = single else {
            single = (arm, latency)
            return
        }
        single = nil
        guard other.arm != arm else { return }
        let (canary, first) = arm == .canary ? (latency, other.latency) : (other.latency, latency)
        let (primary, floor) = (first / .seconds(1), max(.zero, options.allowedDelay) / .seconds(1))
        let (own, scaled) = (canary / .seconds(1), canary / .seconds(1) / options.tolerance)
        let isSlower = scaled > primary && own - primary > floor
        tallies.pairs += 1
        if isSlower { tallies.slowerPairs += 1 }
        slower.add(isSlower)
        // Of two equal transports, each is as often the one that is far slower.
        if scaled > primary * Self.extreme, scaled - primary > floor {
            tail.add(true)
            tallies.farSlowerPairs += 1
        } else if primary > scaled * Self.extreme, primary - scaled > floor {
            tail.add(false)
            tallies.farFasterPairs += 1
        }
    }

    private mutating func end(_ reason: CanaryTransport.Return.Reason) {
        verdict = CanaryTransport.Return(reason: reason, counts: counts, arms: arms)
    }
}

/// Times in buckets whose limits grow by 4 %, so that any number of them takes a few kilobytes.
struct TimeHistogram: Sendable {
    private static let bucketsPerDoubling = 16.0

    private var buckets = [Int](repeating: 0, count: 64 * Int(bucketsPerDoubling))
    private var count = 0

    mutating func add(_ time: Duration) {
        let number = Int(log2(max(1, time / .nanoseconds(1))) * Self.bucketsPerDoubling)
        buckets[min(number, buckets.count - 1)] += 1
        count += 1
    }

    /// The median and the 95th percentile, each to 4 %; `nil` without a time.
    var summary: CanaryTransport.Times? {
        guard count > 0 else { return nil }
        return CanaryTransport.Times(count: count, median: quantile(0.5), percentile95: quantile(0.95))
    }

    private func quantile(_ share: Double) -> Duration {
        var rest = max(1, Int((share * Double(count)).rounded(.up)))
        let bucket = buckets.firstIndex { bucket in
            rest -= bucket
            return rest <= 0
        }
        // The middle of the bucket.
        return .nanoseconds(1) * exp2((Double(bucket ?? 0) + 0.5) / Self.bucketsPerDoubling)
    }
}
