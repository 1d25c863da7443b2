import Foundation
import Testing
import ToolSupport

@testable import netlayer

/// A program of `--exec`, and what it has started, ends with the comparison.
@Suite("The end of netlayer compare --exec", .patience(minutes: 2)) struct ProgramEndTests {
    private let folder = TestFolder()

    /// A comparison whose program runs. The program and its child hold one end of a pipe.
    private struct Comparison {
        let tool: RunningTool
        /// The process of the arm.
        let arm: pid_t
        private let held: FileHandle

        init(in folder: TestFolder) async throws {
            let pipe = try NamedPipe(in: folder)
            tool = try RunningTool([
                "compare", "--as-json", "-n", "1", "--exec", "exec 9>'\(pipe.path)'; echo $PPID >&9; sleep 600; true",
            ])
            held = try await pipe.open(O_RDONLY)
            var line = Data()
            while line.last != UInt8(ascii: "\n") {
                line += try #require(await held.next(upTo: 1))
            }
            arm = try #require(pid_t(String(decoding: line.dropLast(), as: UTF8.self)))
        }

        /// Returns when no process holds the other end.
        func waitForProgram() async throws {
            while try await held.next(upTo: 100)?.isEmpty == false {}
        }
    }

    /// Regression: the arm was killed and its program ran on.
    @Test(arguments: [SIGINT, SIGTERM, SIGHUP], [false, true])
    func `a signal ends the program too, even if its arm is stopped`(signal: Int32, isStopped: Bool) async throws {
        let comparison = try await Comparison(in: folder)
        if isStopped { kill(comparison.arm, SIGSTOP) }
        comparison.tool.send(signal)
        try await comparison.waitForProgram()
        #expect(await comparison.tool.status == 128 + signal)
    }

    @Test(arguments: [SIGTERM, SIGKILL]) func `the program ends with its arm`(signal: Int32) async throws {
        let comparison = try await Comparison(in: folder)
        kill(comparison.arm, signal)
        try await comparison.waitForProgram()
        comparison.tool.send(SIGTERM)
        _ = await comparison.tool.status
    }

    /// Regression: an arm that was stopped or killed just then left a program behind, of which nothing knew.
    @Test func `a command runs only once its number is known`() async throws {
        let place = folder.path("number")
        RunningProgram.share(try SharedNumber(path: place, place: 1))
        let (process, output) = (Process(), Pipe())
        process.standardOutput = output
        let (ends, ending) = AsyncStream<Void>.makeStream()
        process.terminationHandler = { _ in ending.finish() }
        _ = try RunningProgram.start(process, "echo $(od -An -td8 -j8 -N8 '\(place)') $$")
        for await _ in ends {}
        RunningProgram.end(process.processIdentifier)
        let number = process.processIdentifier
        #expect(String(decoding: output.fileHandleForReading.availableData, as: UTF8.self) == "\(number) \(number)\n")
    }

    @Test(arguments: [false, true])
    func `a command whose number stays unknown does not run`(isKnown: Bool) async throws {
        let line = isKnown ? "echo" : ":"
        let command = "echo ran $0 $# >out; cat >>out"
        let shell = try RunningTool(
            ["-c", "\(line) | sh \"$@\"", "sh"] + RunningProgram.arguments(toRun: command), shell: true, in: folder)
        #expect(await shell.status == (isKnown ? 0 : 1))
        let output = try? String(contentsOf: folder.url.appending(path: "out"), encoding: .utf8)
        #expect(output == (isKnown ? "ran /bin/sh 0\n" : nil))
    }

    @Test func `the program ends when the comparison is killed`() async throws {
        let comparison = try await Comparison(in: folder)
        comparison.tool.send(SIGKILL)
        try await comparison.waitForProgram()
    }
}

extension FileHandle {
    /// Returns the next bytes, read on a thread that may block; `nil` at the end.
    fileprivate func next(upTo count: Int) async throws -> Data? {
        try await withCheckedThrowingContinuation { continuation in
            Thread.detachNewThread { continuation.resume(with: Result { try self.read(upToCount: count) }) }
        }
    }
}
