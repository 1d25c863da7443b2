import Foundation
import NetworkComparison
import NetworkLayer

/// The result of a comparison as lines of text.
struct ComparisonText {
    private let result: ExperimentResult

    init(_ result: ExperimentResult) { self.result = result }

    var lines: [String] {
        var lines = result.arms.map { "\($0.name): \($0.origin)" }
        if let answer = ComparisonAnswer(result).sentence { lines += ["", answer] }
        lines += result.remarks.map { "note: \($0)" }
        for index in result.urls.indices { lines += [""] + self.lines(of: index) }
        if !result.growths.isEmpty { lines += ["", "what processes keep"] + result.growths.map { "  \($0.text)" } }
        if !result.changes.isEmpty || !result.warnings.isEmpty { lines += ["", "since the baseline"] }
        lines += result.warnings.map { "  warning: \($0)" }
        return lines + result.changes.map { "  \(result.urls.count > 1 ? "\($0.url): " : "")\($0.text)" }
    }

    private func lines(of index: Int) -> [String] {
        let url = result.urls[index]
        var lines = [url.url]
        lines += table(index).lines.map { "  " + $0 }
        for arm in result.shownArms {
            if let ended = arm.figures[index].ended { lines.append("  \(arm.name): \(ended)") }
            for (code, text) in arm.figures[index].contents.errorTexts.sorted(by: { $0.key < $1.key }) {
                let count = arm.figures[index].contents.outcomes.errors[code] ?? 0
                lines.append("  \(arm.name), \(count) failed: \(text)")
            }
        }
        lines += Self.gaps(result, index).map { "  \($0)" }
        lines += url.verdicts.filter(\.isShown).map { "  " + $0.text }
        for (arm, contents) in zip(result.arms.dropFirst(), url.contents) {
            lines += self.lines(of: contents, (result.arms[0].name, arm.name))
        }
        return lines + wire(index)
    }

    private func lines(of contents: ContentComparison, _ arms: (left: String, right: String)) -> [String] {
        var lines = contents.differences.map { difference in
            let mark = difference.known.map { "known, \($0.name)" } ?? "new"
            return "  differs (\(mark)): \(difference.text(arms))"
        }
        lines += Self.rest(contents).map { "  and \($0)" }
        lines += Self.grouped(contents.noise).map { "  set aside: \($0)" }
        if contents.differences.isEmpty { lines.append("  \(Self.alike(contents, arms.right))") }
        return lines
    }

    /// Returns the requests as they were sent. Lines that the first arm's request lacks are marked.
    private func wire(_ index: Int) -> [String] {
        let first = result.arms[0].figures[index].wire
        return result.arms.flatMap { arm -> [String] in
            guard let wire = arm.figures[index].wire else {
                return result.design.showsWire ? ["  sent over \(arm.name): nothing arrived at the tool's server"] : []
            }
            let lines = zip(wire.lines, wire.differing(from: first)).map { "    \($1 ? "≠" : " ") \($0)" }
            return ["  sent over \(arm.name), \(wire.connection):"] + lines
        }
    }

    /// Returns what to say where there are no differences.
    static func alike(_ contents: ContentComparison, _ arm: String) -> String {
        if contents.isEmpty { return "responses: none over \(arm)" }
        if contents.isUnfounded {
            return "responses: nothing to say of \(arm), since two copies of the first arm differ"
        }
        if contents.hasUncomparedBodies {
            return "responses: no differences over \(arm) but for the bodies, which change with each response and were "
                + "not compared"
        }
        return "responses: no differences over \(arm)\(contents.isPartial ? " in what was compared" : "")"
    }

    /// Returns the failures before anything counted, and what there was no room to compare, for a URL and all arms, the
    /// copy of the first one included.
    static func gaps(_ result: ExperimentResult, _ index: Int) -> [String] {
        (result.arms + [result.copy]).flatMap { arm in
            let (contents, errors) = (arm.figures[index].contents, arm.figures[index].warmUpErrors)
            let early = counts(errors).map { "\(arm.name): before anything counted, requests failed: \($0)" }
            let left = [
                (contents.notCompared, "of its responses"), (contents.partsNotCompared, "parts of its responses"),
            ]
            return [early].compactMap(\.self)
                + left.filter { $0.0 > 0 }.map { "\(arm.name): no room to compare \($0.0) \($0.1)" }
        }
    }

    /// Returns the failures by code; `nil` without any.
    static func counts(_ errors: [String: Int]) -> String? {
        guard !errors.isEmpty else { return nil }
        return errors.sorted { $0.key < $1.key }.map { "\($0.value) \($0.key)" }.joined(separator: ", ")
    }

    /// Returns what to say of the differences that are not listed.
    static func rest(_ contents: ContentComparison) -> [String] {
        let (known, new) = contents.unlisted
        return (new > 0 ? ["\(new) more new differences"] : [])
            + (known > 0 ? ["\(known) more known differences"] : [])
    }

    /// Returns what is set aside, at most ten parts of it by name.
    static func grouped(_ noise: [(place: String, share: Double)]) -> [String] {
        let shown = noise.prefix(10).map { place, share in
            let percent = "\(Int((share * 100).rounded())) %"
            if share >= ContentComparison.shareBeyondChance {
                return "\(place) is another one for the copy of the first arm, in \(percent)"
            }
            return "\(place) changes from request to request"
                + (share > 0 ? " (two copies differ in \(percent))" : "")
        }
        return noise.count > 10 ? shown + ["and \(noise.count - 10) more parts"] : shown
    }

    private func table(_ index: Int) -> Table {
        var table = Table([
            ("arm", .left), ("status", .left), ("p50", .right), ("p95", .right), ("p99", .right), ("req/s", .right),
            ("CPU/req", .right), ("memory", .right), ("threads", .right), ("connections", .right), ("cold", .right),
            ("errors", .right),
        ])
        for (arm, widths) in zip(result.arms, result.urls[index].widths) {
            let summary = ArmSummary([arm.figures[index]])
            func figure(_ metric: Metric, _ text: (Double) -> String) -> String {
                summary.values[metric].map { text($0) + Self.width(widths[metric]) } ?? "-"
            }
            table.add([
                arm.name, Self.statuses(summary.statuses), figure(.p50, Self.time), figure(.p95, Self.time),
                figure(.p99, Self.time), figure(.rate) { "\(Int($0.rounded()))" },
                figure(.cpu) { "\(Int($0.rounded())) µs" },
                summary.peakResidentKB > 0 ? "\(summary.peakResidentKB / 1024) MB" : "-",
                summary.threads > 0 ? "\(summary.threads)" : "-",
                summary.connectionsText,
                arm.figures[index].coldMilliseconds.map(Self.time) ?? "-",
                "\(summary.errors.values.reduce(0, +))",
            ])
        }
        return table
    }

    /// Returns the half-width of a figure's 95 % interval, such as ` ±3 %`; empty where there is none.
    static func width(_ share: Double?) -> String { share.map { " ±\(Verdict.percent($0))" } ?? "" }

    /// Returns the statuses, such as `200`, or `200 ×18, 404 ×2`.
    static func statuses(_ statuses: [Int: Int]) -> String {
        let sorted = statuses.sorted { $0.key < $1.key }
        if sorted.isEmpty { return "-" }
        return sorted.count == 1 ? "\(sorted[0].key)" : sorted.map { "\($0.key) ×\($0.value)" }.joined(separator: ", ")
    }

    static func time(_ milliseconds: Double) -> String { Duration.milliseconds(milliseconds).shortText }
}
