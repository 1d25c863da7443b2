/// A report as lines of text.
struct ReportText {
    private let report: Report

    init(_ report: Report) { self.report = report }

    var lines: [String] {
        var lines = report.arms.map { "\($0.name): \($0.origin)" }
        if let answer = report.answer { lines += ["", answer] }
        lines += report.notes.map { "note: \($0)" }
        for url in report.urls { lines += ["", url.url] + self.lines(of: url).map { "  \($0)" } }
        if !report.growth.isEmpty { lines += ["", "what processes keep"] + report.growth.map { "  \($0.text)" } }
        if !report.changes.isEmpty || !report.warnings.isEmpty { lines += ["", "since the baseline"] }
        lines += report.warnings.map { "  warning: \($0)" }
        return lines + report.changes.map { "  \(report.urls.count > 1 ? "\($0.url): " : "")\($0.text)" }
    }

    private func lines(of url: Report.Target) -> [String] {
        let arms = report.shown(url)
        var table = Table(
            [("arm", .left), ("status", .left)] + FigureCells.titles.map { ($0, .right) } + [("errors", .right)])
        for arm in arms {
            let errors = arm.summary.errors.values.reduce(0, +)
            table.add([arm.name, FigureCells.statuses(arm.summary)] + FigureCells.cells(arm) + ["\(errors)"])
        }
        var lines = table.lines
        for arm in arms {
            if let statistics = arm.summary.statistics { lines.append("\(arm.name): \(statistics.text)") }
            if let ended = arm.summary.ended { lines.append("\(arm.name): \(ended)") }
            for (code, text) in arm.summary.errorTexts.sorted(by: { $0.key < $1.key }) {
                lines.append("\(arm.name), \(arm.summary.errors[code] ?? 0) failed: \(text)")
            }
        }
        lines += url.gaps + report.verdicts.filter { $0.url == url.url && $0.isShown }.map(\.text)
        for responses in url.responses {
            let differences = report.differences.filter { $0.url == url.url && $0.arms[1] == responses.arm }
            lines += differences.map { "differs (\($0.known.map { "known, \($0)" } ?? "new")): \($0.text)" }
            lines += responses.rest.map { "and \($0)" } + responses.aside.map { "set aside: \($0)" }
            if differences.isEmpty { lines.append(responses.text) }
        }
        // Requests as they were sent. Lines that the first arm's request lacks are marked.
        let isWired = url.arms.contains { $0.wire != nil }
        return lines
            + url.arms.dropLast().filter { _ in isWired }.flatMap { arm -> [String] in
                guard let wire = arm.wire else {
                    return ["sent over \(arm.name): nothing arrived at the tool's server"]
                }
                let lines = zip(wire.lines, wire.differing(from: url.arms[0].wire))
                return ["sent over \(arm.name), \(wire.connection):"] + lines.map { "  \($1 ? "≠" : " ") \($0)" }
            }
    }
}

/// The figures of an arm as the cells of a table.
enum FigureCells {
    static let titles = [
        "p50", "p95", "p99", "req/s", "CPU/req", "memory", "threads", "connections", "cold",
    ]

    static func cells(_ arm: Report.Target.Arm) -> [String] {
        let figures = arm.summary
        func cell(_ metric: Metric, _ value: Double?, _ text: (Double) -> String) -> String {
            value.map { text($0) + (arm.widths[metric].map { " ±\(Verdict.percent($0))" } ?? "") } ?? "-"
        }
        return [
            cell(.p50, figures.p50Ms, time), cell(.p95, figures.p95Ms, time), cell(.p99, figures.p99Ms, time),
            cell(.rate, figures.ratePerSecond) { "\(Int($0.rounded()))" },
            cell(.cpu, figures.cpuMicrosecondsPerRequest) { "\(Int($0.rounded())) µs" },
            figures.peakResidentKB.map { "\($0 / 1024) MB" } ?? "-", figures.threads.map { "\($0)" } ?? "-",
            figures.connections.map { "\($0)" } ?? "-", figures.coldMs.map(time) ?? "-",
        ]
    }

    /// Returns the statuses, such as `200`, or `200 ×18, 404 ×2`.
    static func statuses(_ figures: Report.Figures) -> String {
        let sorted = figures.statuses.sorted { $0.key < $1.key }
        if sorted.isEmpty { return "-" }
        return sorted.count == 1 ? "\(sorted[0].key)" : sorted.map { "\($0.key) ×\($0.value)" }.joined(separator: ", ")
    }

    static func time(_ milliseconds: Double) -> String { Duration.milliseconds(milliseconds).shortText }
}

extension Report {
    /// The arms that reports show for a URL.
    func shown(_ url: Target) -> ArraySlice<Target.Arm> { url.arms.prefix(shownArms.count) }
}
