import ArgumentParser
import NetworkComparison
import NetworkLayer

/// The options of `compare` that say where its result goes, and when it is a failure.
struct ComparisonOptions: ParsableArguments {
    @Flag(help: "Print one JSON object.") var json = false

    @Option(help: ArgumentHelp("Write the result as a page that needs no network.", valueName: "file"))
    var html: String?

    @Option(help: ArgumentHelp("Write the result as Markdown, for a pull request.", valueName: "file"))
    var markdown: String?

    @Option(help: ArgumentHelp("Write the verdicts and differences as JUnit test cases.", valueName: "file"))
    var junit: String?

    @Option(
        help: ArgumentHelp(
            "End with 1 if an arm is worse than the first one beyond doubt: 'p95 > +5%', 'rate < -10%'. May be "
                + "repeated.", valueName: "rule"),
        transform: { try FailureRule($0) })
    var failIf: [FailureRule] = []

    @Option(
        help: ArgumentHelp(
            "End with 1 for these differences between the responses: 'differences', 'new-differences' or 'nothing'.",
            valueName: "kind"))
    var failOn = DifferenceAlarm.newDifferences

    /// Writes the result to standard output and to the files of the options.
    func write(_ result: ExperimentResult) async throws {
        if json {
            try await OutputWriter.standardOutput.write(ComparisonJSON(result).value.line + [UInt8(ascii: "\n")])
        } else {
            let text = ComparisonText(result).lines.joined(separator: "\n")
            try await OutputWriter.standardOutput.writeLine(TerminalText.visible(text))
        }
        if let html { try Self.write(ComparisonPage(result).text, to: html) }
        if let markdown { try Self.write(ComparisonMarkdown(result).text, to: markdown) }
        if let junit { try Self.write(ComparisonJUnit(result, rules: failIf, alarm: failOn).text, to: junit) }
    }

    private static func write(_ text: String, to path: String) throws {
        let file = try OutputFile(replacing: path)
        try file.write(Array(text.utf8))
        try file.finish()
    }

    /// Returns why the result is a failure; `nil` if it is none. The empty text needs no further words, since the
    /// report has them.
    func failure(of result: ExperimentResult) -> String? {
        let broken = failIf.flatMap { rule in result.urls.flatMap { url in url.verdicts.filter(rule.isBroken) } }
        if let first = broken.first { return "--fail-if: \(first.text)" }
        if result.hasFailures { return "" }
        let isAlarm =
            switch failOn {
            case .differences: result.hasDifferences
            case .newDifferences: result.hasNewDifferences
            case .nothing: false
            }
        return isAlarm ? "" : nil
    }
}
