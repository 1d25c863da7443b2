import NetworkComparison
import NetworkLayer

/// The verdicts and differences of a comparison as test cases, in the format that continuous integration reads.
struct ComparisonJUnit {
    private let result: ExperimentResult
    private let rules: [FailureRule]
    private let alarm: DifferenceAlarm

    init(_ result: ExperimentResult, rules: [FailureRule], alarm: DifferenceAlarm) {
        (self.result, self.rules, self.alarm) = (result, rules, alarm)
    }

    private struct Case {
        var suite: String
        var name: String
        var failure: String?
        /// What was not looked at.
        var skipped: String?
    }

    var text: String {
        let changes = result.changes.map { verdict in
            one(verdict, "\(verdict.arms.left) and the baseline", isChange: true)
        }
        let missing = result.missing.map { words in
            let isFailure = rules.contains { $0.metric != nil }
            return Case(
                suite: "since the baseline", name: words, failure: isFailure ? words : nil,
                skipped: isFailure ? nil : words)
        }
        let growths = result.growths.map { growth in
            Case(
                suite: "what processes keep",
                name: "\(growth.resource.rawValue), \(growth.arms.first) and \(growth.arms.other)",
                failure: rules.contains { $0.isBroken(by: growth) } ? growth.text : nil)
        }
        let notLookedAt = rules.filter { $0.metric == nil }.flatMap { rule in
            rule.unjudged(in: result).map { Case(suite: "what processes keep", name: rule.text, failure: $0) }
        }
        let cases = result.urls.indices.flatMap(cases) + growths + notLookedAt + changes + missing
        let failed = cases.count { $0.failure != nil }
        var lines = [
            #"<?xml version="1.0" encoding="UTF-8"?>"#,
            #"<testsuites><testsuite name="netlayer compare" tests="\#(cases.count)" failures="\#(failed)">"#,
        ]
        for one in cases {
            let start = #"<testcase classname="\#(Self.escaped(one.suite))" name="\#(Self.escaped(one.name))""#
            let contents = [("failure", one.failure), ("skipped", one.skipped)].compactMap { name, text in
                text.map { #"<\#(name) message="\#(Self.escaped($0))"/>"# }
            }
            lines.append(contents.isEmpty ? "\(start)/>" : "\(start)>\(contents.joined())</testcase>")
        }
        return (lines + ["</testsuite></testsuites>", ""]).joined(separator: "\n")
    }

    /// Returns the case of a verdict. One that says nothing is skipped, unless a rule needs it.
    private func one(_ verdict: Verdict, _ arms: String, isChange: Bool = false) -> Case {
        let isFailure =
            verdict.interval == nil
            ? rules.contains { $0.metric == verdict.metric }
            : rules.contains { $0.isBroken(by: verdict, isChange: isChange) }
        return Case(
            suite: verdict.url, name: "\(verdict.metric.rawValue), \(arms)", failure: isFailure ? verdict.text : nil,
            skipped: verdict.interval == nil && !isFailure ? verdict.text : nil)
    }

    private func cases(_ index: Int) -> [Case] {
        let url = result.urls[index]
        var cases = url.verdicts.map { one($0, "\($0.arms.left) and \($0.arms.right)") }
        for (arm, contents) in zip(result.arms.dropFirst(), url.contents) {
            let names = (result.arms[0].name, arm.name)
            cases += contents.differences.map { difference in
                let counts = alarm == .differences || alarm == .newDifferences && difference.known == nil
                return Case(
                    suite: url.url, name: "\(difference.place), \(names.0) and \(names.1)",
                    failure: counts ? difference.text(names) : nil)
            }
            if contents.isUnfounded {
                let words = ComparisonText.alike(contents, arm.name)
                cases.append(
                    Case(
                        suite: url.url, name: "responses, \(names.0) and \(names.1)",
                        failure: alarm == .nothing ? nil : words, skipped: alarm == .nothing ? words : nil))
            }
            cases += ComparisonText.rest(contents).map { rest in
                Case(suite: url.url, name: "differences that are not listed, \(names.0) and \(names.1)", skipped: rest)
            }
        }
        for arm in result.shownArms {
            let figures = arm.figures[index]
            let failed = ComparisonText.counts(figures.contents.outcomes.errors)
            let early = ComparisonText.counts(figures.warmUpErrors).map { "before anything counted: \($0)" }
            let failures = [failed, early].compactMap(\.self)
            cases.append(
                Case(
                    suite: url.url, name: "requests over \(arm.name)",
                    failure: figures.ended ?? (failures.isEmpty ? nil : failures.joined(separator: "; "))))
        }
        return cases
            + ComparisonText.gaps(result, index).map { Case(suite: url.url, name: "all responses", skipped: $0) }
    }

    static func escaped(_ text: String) -> String {
        // XML has no U+FFFE and U+FFFF.
        let text = String(String.UnicodeScalarView(text.unicodeScalars.filter { $0.value & 0xFFFE != 0xFFFE }))
        return ComparisonPage.escaped(text).replacing(ascii: [UInt8(ascii: "\n"): "&#10;"])
    }
}
