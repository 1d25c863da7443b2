import ArgumentParser
import Foundation
import NetworkLayer
import NetworkRecording

struct HARCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "har", abstract: "Look at HAR files.", subcommands: [Show.self])

    /// The `netlayer har show` command: a waterfall.
    struct Show: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "show", abstract: "Print the exchanges of a HAR file as a waterfall.",
            discussion: """
                Steps of a bar: '.' waiting for a connection, 'd' name lookup, 'c' connecting, 't' TLS, '-' sending \
                and waiting for the response, '=' receiving it, '#' steps that are not known. Queries are not shown.

                \(ProcessStatus.table)
                """)

        @Argument(help: "The HAR file: of 'record', of the library, or of a browser.") var file: String

        func run() async throws {
            let source = try ByteSource(path: file)
            let bytes = try await source.readAll(limit: Recording.maximumFileBytes)
            let recorded = try RecordedEntries(har: Data(bytes), of: source.name, acceptsIncomplete: true)
            await recorded.say()
            let lines = Waterfall.lines(recorded.byStart).joined(separator: "\n")
            try await OutputWriter.standardOutput.writeLine(TerminalText.visible(lines))
        }
    }
}
