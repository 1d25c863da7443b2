import ArgumentParser
import Foundation
import JSONText
import NetworkComparison
import NetworkLayer

/// The options of `compare` that say where its result goes, and when it is a failure.
struct ComparisonOptions: ParsableArguments {
    @Flag(name: .customLong("as-json"), help: "Print one JSON object.") var asJSON = false

    @Option(help: .init("Write the result as a page that needs no network.", valueName: "file")) var html: String?

    @Option(help: .init("Write the verdicts and differences as JUnit test cases.", valueName: "file"))
    var junit: String?

    @Option(help: .init("Write the JSON object to a file, for a later --baseline.", valueName: "file"))
    var save: String?

    @Option(help: .init("Compare each arm with itself in an earlier run, too.", valueName: "file"))
    var baseline: String?

    @Option(
        help: .init(
            "End with 1 if a figure of another arm is that far from the first one's, or an arm's from the baseline's, "
                + "beyond doubt: 'p95 > +5%', 'rate < -10%', 'memory > 1kB' for each request. So does a rule that "
                + "could not be judged. May be repeated.",
            valueName: "rule"),
        transform: { try FailureRule($0) })
    var failIf: [FailureRule] = []

    @Option(
        help: .init(
            "End with 1 for these differences between the responses: 'differences', 'new-differences' or 'nothing'.",
            valueName: "kind"))
    var failOn = DifferenceAlarm.newDifferences

    func validate() throws {
        let files = [("--save", save), ("--html", html), ("--junit", junit)]
        for (index, (name, path)) in files.enumerated() {
            let own = path.map { URL(filePath: $0).standardizedFileURL }
            let other = files[..<index].first {
                own != nil && $0.1.map { URL(filePath: $0).standardizedFileURL } == own
            }
            guard let other else { continue }
            throw ValidationError("\(other.0) and \(name) name the same file")
        }
    }

    func baselineFile() async throws -> Report? {
        guard let baseline else { return nil }
        return try await Report(path: baseline)
    }

    /// Checks that the files can be written, before anything is measured. A pipe is not opened for that: its reader
    /// would take the end of the check for the end of the file.
    func checkFiles() throws {
        for path in [save, html, junit].compactMap(\.self) {
            if case .special = try OutputFile.destination(of: path) { continue }
            _ = try OutputFile(replacing: path)
        }
    }

    /// Writes the report to standard output and to the files of the options.
    func write(_ report: Report) async throws {
        let json = save == nil && !asJSON ? Data() : try report.json
        // First, since standard output may be a pipe that has lost its reader.
        if let save { try Self.write(json, to: save) }
        if let html { try Self.write(Data(ReportPage(report).text.utf8), to: html) }
        if let junit {
            try Self.write(Data(ReportJUnit(report, rules: failIf, alarm: failOn).text.utf8), to: junit)
        }
        if asJSON { return try await OutputWriter.standardOutput.write(json) }
        let text = ReportText(report).lines.joined(separator: "\n")
        try await OutputWriter.standardOutput.writeLine(TerminalText.visible(text))
    }

    private static func write(_ bytes: Data, to path: String) throws {
        let file = try OutputFile(replacing: path)
        try file.write(bytes)
        try file.finish()
    }

    /// Returns why the result is a failure; `nil` if it is none. The empty text needs no further words, since the
    /// report has them.
    func failure(of report: Report) -> String? {
        let broken = failIf.lazy.flatMap { $0.broken(in: report) }.first
        if let first = broken ?? failIf.lazy.flatMap({ $0.unjudged(in: report) }).first { return "--fail-if: \(first)" }
        return report.hasFailures || report.hasDifferences(for: failOn) ? "" : nil
    }
}
