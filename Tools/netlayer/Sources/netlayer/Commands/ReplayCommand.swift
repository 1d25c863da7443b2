import ArgumentParser
import Foundation
import NetworkComparison
import NetworkLayer
import NetworkRecording

struct ReplayCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "replay",
        abstract: "Send the requests of a HAR file again, and compare the responses with the recorded ones.",
        discussion: """
            The requests go to the transport directly, in the order in which they began, one after another or at the \
            recorded times. Responses are compared as 'compare' does it, after their secrets were left out. Values \
            that were secret are not in a recording: header fields with such a value are not sent; -H gives them \
            another one, and a secret field goes only with requests that had it. A body is compared as far as it was \
            recorded, which is said.

            \(ProcessStatus.table)
            """)

    @Argument(help: "The HAR file: of 'record', of the library, or of a browser.") var file: String

    @Option(
        name: [.customShort("H"), .customLong("header")], parsing: .unconditionalSingleValue,
        help: .init("A header field for each request, in place of the recorded one.", valueName: "field"))
    var headers: [String] = []

    @Flag(help: "Begin each request at its recorded time, whether the earlier ones have ended or not (256 at most).")
    var timing = false

    @Option(help: .init("The timeout of each request.", valueName: "seconds")) var timeout = 30.0

    @Option(
        help: .init(
            "End with 1 for these differences: 'differences', 'new-differences' or 'nothing'.", valueName: "kind"))
    var failOn = DifferenceAlarm.newDifferences

    @OptionGroup var transport: TransportOption

    func validate() throws {
        _ = try OptionChecks.timeout(timeout, "--timeout")
        try OptionChecks.fields(headers, "header field")
    }

    func run() async throws {
        let source = try ByteSource(path: file)
        let bytes = try await source.readAll(limit: Recording.maximumFileBytes)
        let recorded = try RecordedEntries(har: Data(bytes), of: source.name)
        await recorded.say()
        let entries = recorded.byStart
        guard let first = entries.first else { throw ToolFailure(.file, "\(source.name) has no exchanges") }
        var values: [HTTPField] = []
        for header in headers {
            let (name, value) = header.splitAtColon
            values.append(try HTTPField(checking: name, value: value))
        }
        let again = RecordedAgain(
            transport: try transport.selected(), fields: try ReplacedFields(values, for: entries),
            timeout: .seconds(timeout))
        var outcomes: [RecordedAgain.Outcome] = []
        let limit = timing ? Self.maximumInProgress : 1
        try await Self.send(entries, of: again, from: timing ? first.started : nil, limit: limit) { outcome in
            for line in outcome.lines { try await OutputWriter.standardOutput.writeLine(TerminalText.line(line)) }
            outcomes.append(outcome)
        }
        var summary = "\(entries.count) exchanges over \(again.transport.name), "
        summary += "\(outcomes.count { !$0.differences.isEmpty }) differ"
        let parts = outcomes.count { if case .start = $0.extent { true } else { false } }
        if parts > 0 { summary += ", \(parts) compared by the start of their bodies alone" }
        let without = outcomes.count { $0.extent == .nothing }
        if without > 0 { summary += ", \(without) without their bodies" }
        try await OutputWriter.standardOutput.writeLine(summary)
        if outcomes.contains(where: { $0.isAlarm(failOn) }) { throw ToolFailure(.refusedByResult, "") }
    }

    /// The most requests of `--timing` that are in progress: as many as those of `run`, by default.
    private static let maximumInProgress = 256

    /// Begins the request of each entry at its recorded time, or as soon as possible. One that is due while the limit
    /// is reached begins when another one has ended.
    /// - Parameters:
    ///   - start: The time of the first entry; `nil` to begin as soon as possible.
    ///   - take: Receives the outcomes, in the order of completion.
    static func send(
        _ entries: [Recording.Entry], of again: RecordedAgain, from start: Date?, limit: Int,
        take: (RecordedAgain.Outcome) async throws -> Void
    ) async throws {
        let now = ContinuousClock.now
        try await withThrowingTaskGroup(of: RecordedAgain.Outcome.self) { group in
            for (index, entry) in entries.enumerated() {
                if let start {
                    try await ContinuousClock().sleep(until: now + .seconds(entry.started.timeIntervalSince(start)))
                }
                if index >= limit, let outcome = try await group.next() { try await take(outcome) }
                group.addTask { try await again.outcome(of: entry) }
            }
            for try await outcome in group { try await take(outcome) }
        }
    }
}
