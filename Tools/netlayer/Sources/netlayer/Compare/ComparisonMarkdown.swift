import Foundation
import NetworkComparison
import NetworkLayer

/// The result of a comparison as Markdown, for a pull request.
struct ComparisonMarkdown {
    private let result: ExperimentResult

    init(_ result: ExperimentResult) { self.result = result }

    var text: String {
        var lines = ["### \(result.arms.map { Self.escaped($0.name) }.joined(separator: " against "))", ""]
        for index in result.urls.indices { lines += section(index) }
        if !result.growths.isEmpty { lines += ["**What processes keep**", ""] }
        lines += result.growths.map { "- \(Self.escaped($0.text))" } + [""]
        if !result.changes.isEmpty || !result.warnings.isEmpty { lines += ["**Since the baseline**", ""] }
        lines += result.warnings.map { "- warning: \(Self.escaped($0))" }
        lines += result.changes.map { "- \(Self.escaped($0.url)), \(Self.escaped($0.text))" } + [""]
        lines += ["<details><summary>Environment</summary>", ""]
        lines += result.environment.map { "- \($0.name): \(Self.escaped($0.value))" }
        lines += result.arms.map { "- \(Self.escaped($0.name)): \(Self.escaped($0.origin))" }
        lines += ["", "```", Self.withoutFence(result.command), "```", ""]
        return (lines + ["</details>", ""]).joined(separator: "\n")
    }

    /// Returns a command without the backticks that would end its block.
    private static func withoutFence(_ command: String) -> String {
        TerminalText.visible(command).replacing(ascii: [UInt8(ascii: "`"): "ˋ"])
    }

    private func section(_ index: Int) -> [String] {
        let url = result.urls[index]
        var lines = ["**\(Self.escaped(url.url))**", ""]
        lines += [
            "| arm | p50 | p95 | p99 | req/s | CPU/req | errors |", "| --- | --: | --: | --: | --: | --: | --: |",
        ]
        for arm in result.shownArms {
            let summary = ArmSummary([arm.figures[index]])
            let times = [Metric.p50, .p95, .p99].map { summary.values[$0].map(ComparisonText.time) ?? "-" }
            let rate = summary.values[.rate].map { "\(Int($0.rounded()))" } ?? "-"
            let cpu = summary.values[.cpu].map { "\(Int($0.rounded())) µs" } ?? "-"
            let errors = summary.ended ?? "\(summary.errors.values.reduce(0, +))"
            let cells = [arm.name] + times + [rate, cpu, errors]
            lines.append("| \(cells.map(Self.escaped).joined(separator: " | ")) |")
        }
        lines += [""] + url.verdicts.map { "- \(Self.escaped($0.text))" }
        lines += ComparisonText.gaps(result, index).map { "- \(Self.escaped($0))" }
        for (arm, contents) in zip(result.arms.dropFirst(), url.contents) {
            let names = (result.arms[0].name, arm.name)
            lines += contents.differences.map { difference in
                let mark = difference.known.map { "known: `\($0.name)`" } ?? "**new**"
                return "- \(mark): \(Self.escaped(difference.text(names)))"
            }
            lines += ComparisonText.rest(contents).map { "- and \($0)" }
            if contents.differences.isEmpty {
                lines.append("- \(Self.escaped(ComparisonText.alike(contents, arm.name)))")
            }
        }
        return lines + [""]
    }

    private static let escapes = "\\`*_{}[]<>|#~&@".utf8.reduce(into: [UInt8(ascii: "\n"): " "]) { escapes, byte in
        escapes[byte] = "\\" + String(Unicode.Scalar(byte))
    }

    /// Returns text that Markdown shows as it is.
    static func escaped(_ text: String) -> String {
        TerminalText.visible(text).replacing(ascii: escapes)
    }
}
