import ArgumentParser
import NetworkComparison

/// The differences between responses that make the exit status 1, by `--fail-on`.
enum DifferenceAlarm: String, ExpressibleByArgument, CaseIterable, Sendable {
    case differences
    case newDifferences = "new-differences"
    case nothing
}

/// A rule of `--fail-if`: `p95 > +5%`.
struct FailureRule: Sendable {
    let text: String
    let metric: Metric
    let isAbove: Bool
    /// The change of the other arm against the first one, as a share.
    let change: Double

    /// - Throws: A usage error.
    init(_ text: String) throws {
        let match = text.wholeMatch(of: /\s*([a-z0-9]+)\s*([<>])\s*([+-]?[0-9]+(?:\.[0-9]+)?)\s*%\s*/)
        guard let match, let metric = Metric(rawValue: String(match.1)), let percent = Double(match.3) else {
            let names = Metric.allCases.map(\.rawValue).joined(separator: ", ")
            throw ValidationError("write it as 'p95 > +5%'; the figures are \(names)")
        }
        (self.text, self.metric, isAbove, change) = (text, metric, match.2 == ">", percent / 100)
    }

    /// Returns the verdicts of a result that break the rule: of other arms against the first one, and of each arm
    /// against the baseline.
    func broken(in result: ExperimentResult) -> [Verdict] {
        result.urls.flatMap(\.verdicts).filter { isBroken(by: $0) }
            + result.changes.filter { isBroken(by: $0, isChange: true) }
    }

    /// Whether a decided verdict breaks the rule.
    /// - Parameter isChange: Whether the verdict is one on an arm against the baseline, and not on the first arm
    ///   against another one.
    func isBroken(by verdict: Verdict, isChange: Bool = false) -> Bool {
        guard verdict.metric == metric, verdict.isDecided, let interval = verdict.interval, interval.low > 0 else {
            return false
        }
        // The whole interval is beyond the rule, and not only the ratio that was found.
        let (least, most) =
            isChange ? (interval.low - 1, interval.high - 1) : (1 / interval.high - 1, 1 / interval.low - 1)
        return isAbove ? least > change : most < change
    }
}
