import ArgumentParser

/// The differences between responses that make the exit status 1, by `--fail-on`.
enum DifferenceAlarm: String, ExpressibleByArgument, CaseIterable, Sendable {
    case differences
    case newDifferences = "new-differences"
    case nothing

    func counts(_ difference: Report.Difference) -> Bool { counts(isKnown: difference.known != nil) }

    func counts(isKnown: Bool) -> Bool { self == .differences || self == .newDifferences && !isKnown }
}

/// A rule of `--fail-if`: `p95 > +5%`, `memory > 1kB`.
struct FailureRule: Sendable {
    /// What a rule is about.
    enum Subject: Sendable {
        /// The change of the other arm against the first one, as a share.
        case change(Metric, isAbove: Bool, Double)
        /// How much more a request leaves behind in the other arm's process: in bytes, or descriptors.
        case growth(Growth.Resource, Double)
    }

    let text: String
    let subject: Subject

    init(_ text: String) throws {
        self.text = text
        if let match = text.wholeMatch(of: /\s*([a-z0-9]+)\s*([<>])\s*([+-]?[0-9]+(?:\.[0-9]+)?)\s*%\s*/),
            let metric = Metric(rawValue: String(match.1)), let percent = Double(match.3)
        {
            subject = .change(metric, isAbove: match.2 == ">", percent / 100)
        } else if let match = text.wholeMatch(of: /\s*([a-z]+)\s*>\s*\+?([0-9]+(?:\.[0-9]+)?)\s*(B|kB|MB)?\s*/),
            let resource = Growth.Resource(rawValue: String(match.1)), let number = Double(match.2),
            (resource == .memory) == (match.3 != nil)
        {
            subject = .growth(resource, number * (match.3 == "MB" ? 1_000_000 : match.3 == "kB" ? 1_000 : 1))
        } else {
            let names = Metric.allCases.map(\.rawValue).joined(separator: ", ")
            throw ValidationError(
                "write it as 'p95 > +5%' (the figures are \(names)), 'memory > 1kB' or 'descriptors > 0.1', for "
                    + "each request")
        }
    }

    /// The figure that the rule is about; `nil` for what processes keep.
    var metric: Metric? {
        guard case .change(let metric, _, _) = subject else { return nil }
        return metric
    }

    /// Whether a run of a program has what the rule is about.
    var isOfPrograms: Bool { metric == .p50 || metric == .cpu }

    /// Returns the rule with each sentence of a report that leaves it undecided: a rule that was not looked at must not
    /// pass for one that holds.
    func unjudged(in report: Report) -> [String] {
        var reasons: [String] = []
        switch subject {
        case .change(let metric, _, _):
            let open = (report.verdicts + report.changes).filter { $0.metric == metric && $0.interval == nil }
            reasons = report.missing + open.map(\.text)
            // A transport may not report it.
            for url in report.urls {
                for arm in report.arms.dropFirst().map(\.name)
                where !report.verdicts.contains(where: { $0.url == url.url && $0.metric == metric && $0.arms[1] == arm }
                ) {
                    reasons.append(
                        "\(url.url): \(report.arms[0].name) or \(arm) does not report its \(metric.rawValue)")
                }
            }
        case .growth(let resource, _):
            if !report.growth.contains(where: { $0.resource == resource }) {
                reasons = [
                    "what processes keep was not looked at; it takes a second arm, 21 rounds of blocks or more, and a "
                        + "system that reports both"
                ]
            }
        }
        return reasons.map { "'\(text)' could not be judged: \($0)" }
    }

    /// Returns the rule with each sentence of a report that breaks it: on other arms against the first one, and on each
    /// arm against the baseline.
    func broken(in report: Report) -> [String] {
        (report.verdicts.filter { isBroken(by: $0) }.map(\.text)
            + report.changes.filter { isBroken(by: $0, isChange: true) }.map(\.text)
            + report.growth.filter(isBroken).map(\.text)).map { "'\(text)': \($0)" }
    }

    /// Whether a decided growth breaks the rule, by its whole interval.
    func isBroken(by growth: Growth) -> Bool {
        guard case .growth(growth.resource, let limit) = subject, growth.decided else { return false }
        return growth.low > limit
    }

    /// Whether a verdict breaks the rule, by its whole interval and by more than the noise floor.
    /// - Parameter isChange: Whether the verdict is one on an arm against the baseline, and not on the first arm
    ///   against another one.
    func isBroken(by verdict: Verdict, isChange: Bool = false) -> Bool {
        guard case .change(verdict.metric, let isAbove, let change) = subject, let interval = verdict.interval,
            interval.low > 0
        else { return false }
        let (least, found, most) =
            isChange
            ? (interval.low, interval.ratio, interval.high)
            : (1 / interval.high, 1 / interval.ratio, 1 / interval.low)
        let (limit, noise) = (1 + change, verdict.noise ?? 1)
        // A rule may ask for a gain: then equal arms are beyond it, and the noise counts from there on.
        return isAbove
            ? least > limit && found > min(limit, 1) * noise : most < limit && found * noise < max(limit, 1)
    }
}
