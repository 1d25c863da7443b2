import Foundation

/// The result of comparing two arms by one metric, for one URL.
struct Verdict: Sendable {
    var url: String
    var metric: Metric
    /// The names of the two arms.
    var arms: (left: String, right: String)
    /// The ratio, left to right; `nil` without a figure for both.
    var ratio: Double?
    /// The interval of the ratio; `nil` where nothing can be said.
    var interval: RatioInterval?
    /// The figures of both arms.
    var values: (left: Double, right: Double)?
    /// Why nothing can be said, in words; `nil` with an interval.
    var obstacle: String?
    /// How far two copies of the same arm may be apart, as a factor of at least 1.
    var noise: Double?
    /// The confidence of the interval, such as 0.95, before it is divided among the verdicts of a run.
    var confidence: Double

    init(
        url: String, metric: Metric, arms: (left: String, right: String), ratio: Double?, interval: RatioInterval?,
        obstacle: String? = nil, noise: Double?, confidence: Double
    ) {
        (self.url, self.metric, self.arms, self.obstacle) = (url, metric, arms, obstacle)
        (self.ratio, self.interval, self.noise, self.confidence) = (ratio, interval, noise, confidence)
    }

    /// Creates the verdict on two arms.
    fileprivate init(
        url: String, metric: Metric, arms: (left: String, right: String), _ pairs: PairedComparison,
        noise: Double?, confidence: Double
    ) {
        let (ratio, interval) = (pairs.ratio(metric), pairs.interval(metric, confidence: confidence))
        let obstacle: String? =
            if interval != nil {
                nil
            } else if ratio == nil {
                "not measured"
            } else if pairs.processes < PairedComparison.minimumProcesses {
                "too few processes for a verdict, \(pairs.processes) of \(PairedComparison.minimumProcesses)"
            } else {
                "too few requests for a verdict, \(pairs.requests) of \(metric.minimumRequests)"
            }
        self.init(
            url: url, metric: metric, arms: arms, ratio: ratio, interval: interval, obstacle: obstacle, noise: noise,
            confidence: 1 - Verdicts.errorRate)
        if let left = pairs.values.left[metric], let right = pairs.values.right[metric] { values = (left, right) }
    }

    /// Whether reports have it: that two arms open as many connections is not worth a line.
    var isShown: Bool { isDecided || !metric.isCount }

    /// Whether the two arms differ beyond doubt: the interval does not contain 1, and the ratio is further from 1 than
    /// two copies of one arm are from each other.
    var isDecided: Bool {
        guard let interval else { return false }
        return !interval.includesOne && max(interval.ratio, 1 / interval.ratio) > noise ?? 1
    }

    /// The verdict as a sentence.
    var text: String {
        guard let interval else { return "\(name): \(obstacle ?? "not measured")" }
        guard isDecided else {
            if let noise, !interval.includesOne {
                return "\(name): no difference found between \(arms.left) and \(arms.right) beyond the one between two "
                    + "equal arms, of \(Self.percent(noise - 1))"
            }
            let share = interval.detectable(beyond: noise ?? 1) - 1
            let size =
                share < Self.largestShare
                ? "one of \(Self.percent(share)) would have been found" : "the data are too noisy to show any"
            return "\(name): no difference found between \(arms.left) and \(arms.right); \(size)"
        }
        return "\(name): \(finding)"
    }

    /// What was found, as a sentence without the metric's name; empty without an interval.
    var finding: String { interval.map { "\(sentence($0.ratio)) (\(details($0)))" } ?? "" }

    /// How the metric is named in a sentence.
    private var name: String {
        switch metric {
        case .p50: "median"
        case .p95: "95th percentile"
        case .p99: "99th percentile"
        case .rate: "rate"
        case .cpu: "CPU"
        case .cold: "first request of a process"
        case .connections: "connections"
        case .attempts: "attempts"
        }
    }

    private func sentence(_ ratio: Double) -> String {
        // The arm that is ahead in what the metric counts comes first: 'four times as' says more than '0.25 of'.
        let (more, less) = ratio < 1 ? (arms.right, arms.left) : (arms.left, arms.right)
        let times = "\(Self.factor(max(ratio, 1 / ratio))) times"
        switch metric {
        case .p50, .p95, .p99, .cold: return "\(less) is \(times) as fast as \(more)"
        case .rate: return "\(more) carries \(times) as many requests a second as \(less)"
        case .cpu: return "\(more) takes \(times) the CPU time of \(less) for a request"
        case .connections, .attempts:
            func count(_ value: Double?) -> String { String(format: "%.3g", (value ?? 0) * 100) }
            let (verb, what) = metric == .connections ? ("opens", "connections") : ("makes", "attempts")
            return "\(arms.left) \(verb) \(count(values?.left)) \(what) for 100 requests, \(arms.right) "
                + count(values?.right)
        }
    }

    private func details(_ interval: RatioInterval) -> String {
        // In the direction of the sentence.
        let (low, high) = interval.ratio < 1 ? (1 / interval.high, 1 / interval.low) : (interval.low, interval.high)
        let range = "\(Self.factor(low)) to \(Self.factor(high))\(metric.isCount ? " times as many" : "")"
        let floor = noise.map { "; noise floor \(Self.percent($0 - 1))" } ?? "; no noise floor"
        return "\(Self.percent(confidence)) CI \(range)\(floor)"
    }

    /// Returns a factor with two digits that count, `0.46`, `0.069`, `2.1`, `15`, and with more where it would be 1
    /// otherwise: `1.004`.
    static func factor(_ value: Double) -> String {
        guard value.isFinite, value > 0 else { return "\(value)" }
        var digits = min(max(0, 1 - Int(log10(value).rounded(.down))), mostDigits)
        while true {
            let text = String(format: "%.\(digits)f", value)
            if digits == mostDigits || value == 1 || Double(text) != 1 { return text }
            digits += 1
        }
    }

    private static let mostDigits = 6

    /// The share from which on an interval says nothing of use: a tenfold difference.
    private static let largestShare = 9.0

    /// Returns a share as a percentage, rounded up to a whole one from 1 % on.
    static func percent(_ share: Double) -> String {
        guard share.isFinite, share < largestShare else { return "over 900 %" }
        let percent = share * 100
        return percent < 0.95 ? String(format: "%.1f %%", percent) : "\(Int((percent - 1e-9).rounded(.up))) %"
    }
}

/// The arms of a run and what is compared.
enum Verdicts {
    /// The chance of at least one wrong verdict in a run of arms that do not differ.
    static let errorRate = 0.05

    /// Returns the confidence of each verdict's interval, so that all of them together have the run's.
    /// - Parameters:
    ///   - comparisons: The number of pairs of arms and URLs that are compared, those with a baseline included.
    ///   - metrics: The number of verdicts on each pair.
    static func confidence(comparisons: Int, metrics: Int) -> Double {
        1 - errorRate / Double(max(1, comparisons * metrics))
    }

    /// Returns the verdicts of one URL: the first arm against each other one, by each metric.
    /// - Parameters:
    ///   - arms: The names of the arms and their blocks, the first arm first.
    ///   - noise: How far two copies of the first arm may be apart, by metric.
    ///   - comparisons: The number of pairs of arms and URLs that share the chance of an error.
    ///   - metrics: What the arms are compared by.
    ///   - draws: How often pairs of processes are drawn.
    static func verdicts(
        url: String, arms: [(name: String, blocks: [Block])], noise: [Metric: Double], comparisons: Int,
        metrics: [Metric] = Metric.allCases, draws: Int = PairedComparison.draws,
        using generator: inout some RandomNumberGenerator
    ) -> [Verdict] {
        guard let first = arms.first else { return [] }
        let confidence = confidence(comparisons: comparisons, metrics: metrics.count)
        return arms.dropFirst().flatMap { arm in
            let pairs = PairedComparison(first.blocks, arm.blocks, draws: draws, using: &generator)
            // A transport may not report its connections.
            return metrics.filter { !$0.mayBeUnknown || pairs.ratio($0) != nil }.map { metric in
                Verdict(
                    url: url, metric: metric, arms: (first.name, arm.name), pairs, noise: noise[metric],
                    confidence: confidence)
            }
        }
    }

    /// Returns the verdicts on one arm against the same arm in an earlier run, whose blocks met another state of the
    /// machine.
    /// - Parameters:
    ///   - noise: How far two copies of one arm may be apart now.
    ///   - comparisons: The number of pairs of arms and URLs that share the chance of an error.
    static func changes(
        url: String, arm: String, now: [Block], before: [Block], noise: [Metric: Double],
        comparisons: Int, metrics: [Metric], using generator: inout some RandomNumberGenerator
    ) -> [Verdict] {
        let confidence = confidence(comparisons: comparisons, metrics: metrics.count)
        let pairs = PairedComparison(now, before, arePaired: false, using: &generator)
        return metrics.filter { !$0.mayBeUnknown || pairs.ratio($0) != nil }.map { metric in
            Verdict(
                url: url, metric: metric, arms: (arm, "the baseline"), pairs, noise: noise[metric],
                confidence: confidence)
        }
    }

    /// Returns how far two copies of one arm may be apart, by each metric, as factors of at least 1.
    static func noise(
        _ one: [Block], _ other: [Block], draws: Int = PairedComparison.draws,
        using generator: inout some RandomNumberGenerator
    ) -> [Metric: Double] {
        let pairs = PairedComparison(one, other, draws: draws, using: &generator)
        return Metric.allCases.reduce(into: [:]) { noise, metric in
            noise[metric] = pairs.interval(metric, confidence: 1 - errorRate)?.reach
        }
    }
}
