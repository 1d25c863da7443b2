import NetworkComparison
import NetworkCore

/// Decides whether a canary is worse than the primary.
struct CanaryJudge: Sendable {
    enum Arm: Sendable { case primary, canary }

    /// How many requests of the primary are judged for each of the canary.
    static let controls = 4.0

    private(set) var counts = CanaryTransport.Counts()
    private(set) var verdict: CanaryTransport.Return?
    private var failures: SequentialProportion
    private var slower = SequentialProportion(probability: 0.5)
    /// The latency of a judged request, until the next one is there.
    private var single: (arm: Arm, latency: Duration)?
    private let options: CanaryTransport.Options
    private let arms: (primary: String, canary: String)

    init(_ options: CanaryTransport.Options, arms: (primary: String, canary: String)) {
        (self.options, self.arms) = (options, arms)
        let judged = min(1, options.share * (1 + Self.controls))
        failures = SequentialProportion(probability: options.share / judged)
    }

    mutating func add(_ arm: Arm, isFailed: Bool, _ latency: Duration?) {
        guard verdict == nil else { return }
        count(arm, isFailed: isFailed)
        if isFailed { failures.add(arm == .canary) }
        if let latency { pair(arm, latency) }
        // Two tests share the chance of a false alarm.
        let doubt = options.falseAlarms / 2
        if failures.isExceeded(falseAlarms: doubt) {
            end(.failures)
        } else if slower.isExceeded(falseAlarms: doubt) {
            end(.latency)
        }
    }

    private mutating func count(_ arm: Arm, isFailed: Bool) {
        switch arm {
        case .primary:
            counts.primary += 1
            if isFailed { counts.primaryFailures += 1 }
        case .canary:
            counts.canary += 1
            if isFailed { counts.canaryFailures += 1 }
        }
    }

    /// Compares two requests that follow one another, if each is of one arm: which of them is the canary's is then a
    /// coin, whatever the latencies do in the meantime.
    private mutating func pair(_ arm: Arm, _ latency: Duration) {
        guard let other = single else {
            single = (arm, latency)
            return
        }
        single = nil
        guard other.arm != arm else { return }
        let (canary, first) = arm == .canary ? (latency, other.latency) : (other.latency, latency)
        let isSlower = canary / .seconds(1) > first / .seconds(1) * options.tolerance
        counts.pairs += 1
        if isSlower { counts.slowerPairs += 1 }
        slower.add(isSlower)
    }

    private mutating func end(_ reason: CanaryTransport.Return.Reason) {
        verdict = CanaryTransport.Return(reason: reason, counts: counts, arms: arms, tolerance: options.tolerance)
    }
}
