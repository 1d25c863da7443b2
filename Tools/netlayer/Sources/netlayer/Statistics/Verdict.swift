import Foundation

/// The result of comparing two arms by one metric, for one URL.
struct Verdict: Codable, Sendable {
    let url: String
    let metric: Metric
    /// The names of the two arms; the second one may be 'the baseline'.
    let arms: [String]
    /// The ratio, left to right; `nil` without a figure for both.
    let ratio: Double?
    /// The ends of the ratio's interval; `nil` where nothing can be said.
    let (low, high): (Double?, Double?)
    /// How far two copies of the same arm may be apart, as a factor of at least 1.
    let noise: Double?
    /// Whether the two arms differ beyond doubt: the interval does not contain 1, and the ratio is further from 1 than
    /// two copies of one arm are from each other.
    let decided: Bool
    let text: String

    /// - Parameters:
    ///   - obstacle: Why nothing can be said, in words; `nil` with an interval.
    ///   - values: The figures of both arms, which sentences on counts have.
    init(
        url: String, metric: Metric, arms: [String], ratio: Double?, interval: RatioInterval?,
        obstacle: String? = nil, values: (left: Double, right: Double) = (0, 0), noise: Double?
    ) {
        (self.url, self.metric, self.arms, self.ratio, self.noise) = (url, metric, arms, ratio, noise)
        (low, high) = (interval?.low, interval?.high)
        decided = interval.map { !$0.includesOne && max($0.ratio, 1 / $0.ratio) > noise ?? 1 } ?? false
        let (left, right) = (arms[0], arms[1])
        let finding =
            if let interval {
                if decided {
                    Self.sentence(metric, left, right, interval.ratio, values) + Self.details(metric, interval, noise)
                } else if let noise, !interval.includesOne {
                    "no difference found between \(left) and \(right) beyond the one between two equal arms, of "
                        + Self.percent(noise - 1)
                } else {
                    "no difference found between \(left) and \(right); "
                        + Self.detectable(interval.detectable(beyond: noise ?? 1) - 1)
                }
            } else {
                obstacle ?? "not measured"
            }
        text = "\(metric.name): \(finding)"
    }

    fileprivate init(
        url: String, metric: Metric, arms: [String], _ pairs: PairedComparison, noise: Double?, confidence: Double,
        obstacle: String? = nil
    ) {
        let ratio = pairs.ratio(metric)
        let interval = pairs.interval(metric, confidence: confidence)
        let found: String? =
            if interval != nil {
                obstacle
            } else if ratio == nil {
                "not measured"
            } else if pairs.processes < PairedComparison.minimumProcesses {
                "too few processes for a verdict, \(pairs.processes) of \(PairedComparison.minimumProcesses)"
            } else {
                "too few requests for a verdict, \(pairs.requests) of \(metric.minimumRequests)"
            }
        self.init(
            url: url, metric: metric, arms: arms, ratio: ratio, interval: found == nil ? interval : nil,
            obstacle: found, values: (pairs.values.left[metric] ?? 0, pairs.values.right[metric] ?? 0), noise: noise)
    }

    /// The interval of the ratio; `nil` where nothing can be said.
    var interval: RatioInterval? {
        guard let ratio, let low, let high else { return nil }
        return RatioInterval(ratio: ratio, low: low, high: high)
    }

    /// Whether reports have it: that two arms open as many connections is not worth a line.
    var isShown: Bool { decided || !metric.isCount }

    private static func sentence(
        _ metric: Metric, _ left: String, _ right: String, _ ratio: Double, _ values: (left: Double, right: Double)
    ) -> String {
        // The arm that is ahead in what the metric counts comes first: 'four times as' says more than '0.25 of'.
        let (more, less) = ratio < 1 ? (right, left) : (left, right)
        let times = "\(factor(max(ratio, 1 / ratio))) times"
        switch metric {
        case .p50, .p95, .p99, .cold: return "\(less) is \(times) as fast as \(more)"
        case .rate: return "\(more) carries \(times) as many requests a second as \(less)"
        case .cpu: return "\(more) takes \(times) the CPU time of \(less) for a request"
        case .connections, .attempts:
            let (verb, what) = metric == .connections ? ("opens", "connections") : ("makes", "attempts")
            let counts = [values.left, values.right].map { String(format: "%.3g", $0 * 100) }
            return "\(left) \(verb) \(counts[0]) \(what) for 100 requests, \(right) \(counts[1])"
        }
    }

    /// Returns the interval in the direction of the sentence, and the noise floor.
    private static func details(_ metric: Metric, _ interval: RatioInterval, _ noise: Double?) -> String {
        let (low, high) = interval.ratio < 1 ? (1 / interval.high, 1 / interval.low) : (interval.low, interval.high)
        let range = "\(factor(low)) to \(factor(high))\(metric.isCount ? " times as many" : "")"
        let floor = noise.map { "; noise floor \(percent($0 - 1))" } ?? "; no noise floor"
        return " (\(percent(1 - Verdicts.errorRate)) CI \(range)\(floor))"
    }

    private static func detectable(_ share: Double) -> String {
        share < largestShare
            ? "one of \(percent(share)) would have been found" : "the data are too noisy to show any"
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

enum Verdicts {
    /// The chance of at least one wrong verdict in a run of arms that do not differ.
    static let errorRate = 0.05

    /// Returns the confidence of each verdict's interval, so that all of them together have the run's.
    /// - Parameter comparisons: The number of pairs of arms and URLs that are compared, those with a baseline included.
    static func confidence(comparisons: Int, metrics: Int) -> Double {
        1 - errorRate / Double(max(1, comparisons * metrics))
    }

    /// Returns the verdicts on two arms for a URL, without those on what a transport does not report.
    /// - Parameters:
    ///   - arePaired: Whether the blocks of both arms met the same state of the machine.
    ///   - obstacle: Why nothing can be said, whatever the figures are.
    static func verdicts(
        url: String, _ one: (name: String, blocks: [Block]), _ other: (name: String, blocks: [Block]),
        arePaired: Bool = true, noise: [Metric: Double], comparisons: Int, metrics: [Metric] = Metric.allCases,
        obstacle: String? = nil, draws: Int = PairedComparison.draws, using generator: inout some RandomNumberGenerator
    ) -> [Verdict] {
        let confidence = confidence(comparisons: comparisons, metrics: metrics.count)
        let pairs = PairedComparison(
            one.blocks, other.blocks, arePaired: arePaired, draws: draws, using: &generator)
        return metrics.filter { !$0.mayBeUnknown || pairs.ratio($0) != nil }.map { metric in
            Verdict(
                url: url, metric: metric, arms: [one.name, other.name], pairs, noise: noise[metric],
                confidence: confidence, obstacle: obstacle)
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
