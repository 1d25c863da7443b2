/// The verdicts and differences of a report as test cases, in the format that continuous integration reads.
struct ReportJUnit {
    private let report: Report
    private let rules: [FailureRule]
    private let alarm: DifferenceAlarm

    init(_ report: Report, rules: [FailureRule], alarm: DifferenceAlarm) {
        (self.report, self.rules, self.alarm) = (report, rules, alarm)
    }

    private struct Case {
        var suite, name: String
        var failure: String?
        /// What was not looked at.
        var skipped: String?

        /// Something that was not looked at: a failure if it must be.
        init(_ suite: String, _ name: String, notLookedAt words: String, isFailure: Bool) {
            (self.suite, self.name) = (suite, name)
            (failure, skipped) = isFailure ? (words, nil) : (nil, words)
        }

        init(_ suite: String, _ name: String, failure: String?) {
            (self.suite, self.name, self.failure) = (suite, name, failure)
        }

        var text: String {
            let contents = [("failure", failure), ("skipped", skipped)].compactMap { name, text in
                text.map { #"<\#(name) message="\#(ReportJUnit.escaped($0))"/>"# }
            }.joined()
            let start = #"<testcase classname="\#(ReportJUnit.escaped(suite))" name="\#(ReportJUnit.escaped(name))""#
            return contents.isEmpty ? "\(start)/>" : "\(start)>\(contents)</testcase>"
        }
    }

    var text: String {
        let kept = "what processes keep"
        var cases = report.urls.flatMap(cases)
        cases += report.growth.map { growth in
            let isBroken = rules.contains { $0.isBroken(by: growth) }
            let name = "\(growth.resource.rawValue), \(growth.arms[0]) and \(growth.arms[1])"
            return Case(kept, name, failure: isBroken ? growth.text : nil)
        }
        for rule in rules where rule.metric == nil {
            cases += rule.unjudged(in: report).map { Case(kept, rule.text, failure: $0) }
        }
        cases += report.changes.map { one($0, isChange: true) }
        cases += report.missing.map {
            Case("since the baseline", $0, notLookedAt: $0, isFailure: rules.contains { $0.metric != nil })
        }
        let failed = cases.count { $0.failure != nil }
        let lines =
            [
                #"<?xml version="1.0" encoding="UTF-8"?>"#,
                #"<testsuites><testsuite name="netlayer compare" tests="\#(cases.count)" failures="\#(failed)">"#,
            ] + cases.map(\.text) + ["</testsuite></testsuites>", ""]
        return lines.joined(separator: "\n")
    }

    /// Returns the case of a verdict. One that says nothing is skipped, unless a rule needs it.
    private func one(_ verdict: Verdict, isChange: Bool = false) -> Case {
        let name = "\(verdict.metric.rawValue), \(verdict.arms[0]) and \(verdict.arms[1])"
        if verdict.interval == nil {
            let isNeeded = rules.contains { $0.metric == verdict.metric }
            return Case(verdict.url, name, notLookedAt: verdict.text, isFailure: isNeeded)
        }
        let isBroken = rules.contains { $0.isBroken(by: verdict, isChange: isChange) }
        return Case(verdict.url, name, failure: isBroken ? verdict.text : nil)
    }

    private func cases(_ url: Report.Target) -> [Case] {
        var cases = report.verdicts.filter { $0.url == url.url }.map { one($0) }
        for responses in url.responses {
            let arms = "\(report.arms[0].name) and \(responses.arm)"
            for difference in report.differences where difference.url == url.url && difference.arms[1] == responses.arm
            {
                let failure = alarm.counts(difference) ? difference.text : nil
                cases.append(Case(url.url, "\(difference.where), \(arms)", failure: failure))
            }
            if responses.isUnfounded {
                cases.append(
                    Case(
                        url.url, "responses, \(arms)", notLookedAt: responses.text, isFailure: alarm != .nothing))
            }
            cases += responses.rest.map {
                Case(url.url, "differences that are not listed, \(arms)", notLookedAt: $0, isFailure: false)
            }
        }
        cases += report.shown(url).map { arm in
            let (errors, early) = (arm.summary.errors, arm.summary.warmUpErrors)
            let failures =
                (errors.isEmpty ? [] : [Report.counts(errors)])
                + (early.isEmpty ? [] : ["before anything counted: \(Report.counts(early))"])
            let failure = arm.summary.ended ?? (failures.isEmpty ? nil : failures.joined(separator: "; "))
            return Case(url.url, "requests over \(arm.name)", failure: failure)
        }
        return cases + url.gaps.map { Case(url.url, "all responses", notLookedAt: $0, isFailure: false) }
    }

    static func escaped(_ text: String) -> String {
        // XML has no U+FFFE and U+FFFF.
        let text = String(String.UnicodeScalarView(text.unicodeScalars.filter { $0.value & 0xFFFE != 0xFFFE }))
        return HTML.escaped(text).replacing(ascii: [UInt8(ascii: "\n"): "&#10;"])
    }
}
