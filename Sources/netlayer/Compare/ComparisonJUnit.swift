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
            Case(
                suite: verdict.url, name: "\(verdict.metric.rawValue), \(verdict.arms.left) and the baseline",
                failure: rules.contains { $0.isBroken(by: verdict, isChange: true) } ? verdict.text : nil)
        }
        let growths = result.growths.map { growth in
            Case(
                suite: "what processes keep",
                name: "\(growth.resource.rawValue), \(growth.arms.first) and \(growth.arms.other)",
                failure: rules.contains { $0.isBroken(by: growth) } ? growth.text : nil)
        }
        let cases = result.urls.indices.flatMap(cases) + growths + changes
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

    private func cases(_ index: Int) -> [Case] {
        let url = result.urls[index]
        var cases = url.verdicts.map { verdict in
            let isBroken = rules.contains { $0.isBroken(by: verdict) }
            return Case(
                suite: url.url, name: "\(verdict.metric.rawValue), \(verdict.arms.left) and \(verdict.arms.right)",
                failure: isBroken ? verdict.text : nil)
        }
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
            let failed = figures.contents.outcomes.errors.sorted { $0.key < $1.key }.map { "\($0.value) \($0.key)" }
            cases.append(
                Case(
                    suite: url.url, name: "requests over \(arm.name)",
                    failure: figures.ended ?? (failed.isEmpty ? nil : failed.joined(separator: ", "))))
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
