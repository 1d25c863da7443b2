import ArgumentParser
import Foundation
import Logging
import NetworkLayer
import NetworkRollout

/// The command-line tool: HTTP requests over either transport.
@main
struct Netlayer: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "netlayer",
        abstract: "HTTP requests over libcurl and URLSession.",
        discussion: """
            \(TransportKind.variable)=curl|urlsession picks the transport of 'fetch' and 'run'; unset, it is \
            \(TransportKind.standard.rawValue). --transport takes precedence.

            \(ProcessStatus.table)
            """,
        version: "netlayer \(NetworkLayerVersion.current)",
        subcommands: [
            FetchCommand.self, CompareCommand.self, RunCommand.self, RecordCommand.self, ReplayCommand.self,
            HARCommand.self, TransportsCommand.self, ExplainCommand.self, ServeCommand.self, ArmCommand.self,
        ]
    )

    static func main() async {
        let interruption = Interruption()
        Rollout.enable()
        Descriptor.occupyStandardNumbers()
        // A write to a closed pipe or connection must return an error, not end the process.
        signal(SIGPIPE, SIG_IGN)
        // Standard output has results.
        LoggingSystem.bootstrap { StreamLogHandler.standardError(label: $0) }
        // The operation includes the last message, because writing it may block like any other output.
        let status = await interruption.guarding {
            do {
                try await runCommand(interruption)
                return ProcessStatus.done
            } catch {
                return await report(error, interruption)
            }
        }
        // A task that is still alive may hold one.
        Drafts.deleteAll()
        endProcess(status.rawValue)
    }

    private static func runCommand(_ interruption: Interruption) async throws {
        if let number = Arguments.firstThatIsNoText {
            throw ToolFailure(.usage, "argument \(number) is not UTF-8; only a file may contain other bytes")
        }
        let words = CommandWords.separated(Array(CommandLine.arguments.dropFirst()))
        var command = try await asyncParseAsRoot(words)
        if let seconds = (command as? FetchCommand)?.timeout { interruption.limit(toSeconds: seconds) }
        if var command = command as? any AsyncParsableCommand {
            try await command.run()
        } else {
            try command.run()
        }
    }

    /// Prints the error, and returns its exit status.
    private static func report(_ error: any Error, _ interruption: Interruption) async -> ProcessStatus {
        if let failure = error as? ToolFailure, failure.status == .closedPipe { return .closedPipe }
        if let status = interruption.status { return status }
        let failure: ToolFailure
        switch error {
        case let error as ToolFailure: failure = error
        case let error as NetworkError: failure = ToolFailure(ProcessStatus(error), error.description + error.advice)
        case is CancellationError: failure = ToolFailure(ProcessStatus(.cancelled), NetworkError.cancelled.description)
        default: return await reportUsage(error, interruption)
        }
        if !failure.message.isEmpty { await OutputWriter.say("netlayer: \(failure.message)") }
        return failure.status
    }

    /// Prints help, the version or a usage error. The argument parser reports all three as errors, and would exit with
    /// 64 for wrong usage.
    private static func reportUsage(_ error: any Error, _ interruption: Interruption) async -> ProcessStatus {
        let message = fullMessage(for: error)
        guard exitCode(for: error).isSuccess else {
            let words = Array(CommandLine.arguments.dropFirst())
            let shown = CommandWords.hidingValues(of: words, in: message)
            await OutputWriter.say(shown + (CommandWords.advice(on: message).map { "\n\($0)" } ?? ""))
            return .usage
        }
        do {
            try await OutputWriter.standardOutput.writeLine(message)
            return .done
        } catch {
            return await report(error, interruption)
        }
    }
}

// Inside the command, `exit` is the argument parser's function.
private func endProcess(_ status: Int32) -> Never { exit(status) }
