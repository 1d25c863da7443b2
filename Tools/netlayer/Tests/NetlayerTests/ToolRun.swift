import Foundation
import Testing

@testable import netlayer

/// A complete run of the program that was built with the tests.
struct ToolRun: Sendable {
    /// The exit status.
    let status: Int32
    let output: Data
    let errors: String

    var text: String { String(decoding: output, as: UTF8.self) }

    static let tool = URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent()
        .appending(path: "netlayer")

    /// - Parameters:
    ///   - environment: Variables in addition to the test's own.
    ///   - program: The path of another program.
    ///   - expected: The expected exit status, if that is all there is to check.
    init(
        _ arguments: [String], of program: String? = nil, environment: [String: String] = [:],
        status expected: Int32? = nil, at place: SourceLocation = #_sourceLocation
    ) async throws {
        RunningTool.setDefaultSignals
        let process = Process()
        process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
        process.executableURL = program.map { URL(filePath: $0) } ?? Self.tool
        process.arguments = arguments
        process.standardInput = FileHandle.nullDevice
        let (output, errors) = (Pipe(), Pipe())
        process.standardOutput = output
        process.standardError = errors
        // Waiting for the end otherwise would block one of the few threads that all tests share.
        let (ends, end) = AsyncStream<Int32>.makeStream()
        process.terminationHandler = { process in
            end.yield(process.terminationStatus)
            end.finish()
        }
        try process.run()
        let number = process.processIdentifier
        // A test that exceeds its time limit leaves no process behind.
        (status, self.output, self.errors) = try await withTaskCancellationHandler {
            async let output = Self.end(of: output)
            async let errors = Self.end(of: errors)
            let (all, said) = try await (output, Self.withoutLoaderWarnings(errors))
            // A task of its own, which a cancellation of this one does not cut short.
            let status = await Task { await ends.first { _ in true } ?? -1 }.value
            return (status, all, said)
        } onCancel: {
            kill(number, SIGKILL)
        }
        if let expected { #expect(status == expected, "\(self.errors)", sourceLocation: place) }
    }

    /// Runs a comparison, and returns its report too.
    static func compare(_ words: String...) async throws -> (report: Report, run: ToolRun) {
        let run = try await ToolRun(["compare", "--as-json"] + words)
        return (try JSONDecoder().decode(Report.self, from: run.output), run)
    }

    /// Runs the program with a `--timeout`, and again if its watchdog was faster than the command: on a machine that
    /// starves it, it may be, and knows neither the request nor its cookies.
    static func untilTimeout(_ arguments: [String]) async throws -> ToolRun {
        var run = try await ToolRun(arguments)
        for _ in 0..<2 where run.errors.contains("a file or a pipe blocks") { run = try await ToolRun(arguments) }
        return run
    }

    /// Returns the text without the lines that the loader adds where a libcurl has no versions of symbols.
    private static func withoutLoaderWarnings(_ text: Data) -> String {
        String(decoding: text, as: UTF8.self).split(separator: "\n", omittingEmptySubsequences: false)
            .filter { !$0.contains(": no version information available (required by ") }.joined(separator: "\n")
    }

    /// Returns all output of a pipe, read on a thread that may block.
    private static func end(of pipe: Pipe) async throws -> Data {
        let reader = pipe.fileHandleForReading
        return try await withCheckedThrowingContinuation { continuation in
            Thread.detachNewThread {
                continuation.resume(with: Result { try reader.readToEnd() ?? Data() })
            }
        }
    }
}

/// A temporary folder, which exists as long as the test holds it.
final class TestFolder: Sendable {
    let url = FileManager.default.temporaryDirectory.appending(path: "netlayer-\(UUID().uuidString)")

    /// What is written into a folder that could not be made says so.
    init() { try? FileManager.default.createDirectory(at: url, withIntermediateDirectories: true) }

    deinit { try? FileManager.default.removeItem(at: url) }

    func path(_ name: String) -> String { url.appending(path: name).path }

    /// Returns the path of a file with a text.
    func write(_ text: String, to name: String) throws -> String {
        try Data(text.utf8).write(to: url.appending(path: name))
        return path(name)
    }

    func read(_ name: String) throws -> String { try String(contentsOfFile: path(name), encoding: .utf8) }

    /// The names in the folder, sorted.
    var entries: [String] {
        get throws { try FileManager.default.contentsOfDirectory(atPath: url.path).sorted() }
    }
}
