import ArgumentParser
import Foundation
import JSONText
import NetworkComparison
import NetworkLayer

/// The options of `compare` that say where its result goes, and when it is a failure.
struct ComparisonOptions: ParsableArguments {
    @Flag(name: .customLong("as-json"), help: "Print one JSON object.") var asJSON = false

    @Option(help: ArgumentHelp("Write the result as a page that needs no network.", valueName: "file"))
    var html: String?

    @Option(help: ArgumentHelp("Write the verdicts and differences as JUnit test cases.", valueName: "file"))
    var junit: String?

    @Option(help: ArgumentHelp("Write the JSON object to a file, for a later --baseline.", valueName: "file"))
    var save: String?

    @Option(help: ArgumentHelp("Compare each arm with itself in an earlier run, too.", valueName: "file"))
    var baseline: String?

    @Option(
        help: ArgumentHelp(
            "End with 1 if a figure of another arm is that far from the first one's, or an arm's from the baseline's, "
                + "beyond doubt: 'p95 > +5%', 'rate < -10%', 'memory > 1kB' for each request. So does a rule that "
                + "could not be judged. May be repeated.",
            valueName: "rule"),
        transform: { try FailureRule($0) })
    var failIf: [FailureRule] = []

    @Option(
        help: ArgumentHelp(
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

    /// Returns the earlier run of `--baseline`.
    func baselineFile() async throws -> Baseline? {
        guard let baseline else { return nil }
        return try await Baseline(path: baseline)
    }

    /// Checks that the files can be written, before anything is measured. A pipe is not opened for that: its reader
    /// would take the end of the check for the end of the file.
    func checkFiles() throws {
        for path in [save, html, junit].compactMap(\.self) {
            if case .special = try OutputFile.destination(of: path) { continue }
            _ = try OutputFile(replacing: path)
        }
    }

    /// Writes the result to standard output and to the files of the options.
    func write(_ result: ExperimentResult) async throws {
        // First, since standard output may be a pipe that has lost its reader.
        if let save {
            try Self.write(String(decoding: ComparisonJSON(result).value.line, as: UTF8.self) + "\n", to: save)
        }
        if let html { try Self.write(ComparisonPage(result).text, to: html) }
        if let junit { try Self.write(ComparisonJUnit(result, rules: failIf, alarm: failOn).text, to: junit) }
        if asJSON {
            try await OutputWriter.standardOutput.write(ComparisonJSON(result).value.line + [UInt8(ascii: "\n")])
        } else {
            let text = ComparisonText(result).lines.joined(separator: "\n")
            try await OutputWriter.standardOutput.writeLine(TerminalText.visible(text))
        }
    }

    private static func write(_ text: String, to path: String) throws {
        let file = try OutputFile(replacing: path)
        try file.write(Array(text.utf8))
        try file.finish()
    }

    /// Returns why the result is a failure; `nil` if it is none. The empty text needs no further words, since the
    /// report has them.
    func failure(of result: ExperimentResult) -> String? {
        if let first = failIf.lazy.flatMap({ $0.broken(in: result) }).first { return "--fail-if: \(first)" }
        if let first = failIf.lazy.flatMap({ $0.unjudged(in: result) }).first { return "--fail-if: \(first)" }
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
