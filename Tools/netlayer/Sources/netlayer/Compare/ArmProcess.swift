import Foundation
import NetworkLayer

final class ArmProcess: Sendable {
    /// How a process ended that should not have, in words, such as `ended by signal 4 at request 17`.
    struct Ended: Error { var text: String }

    private let number: pid_t
    private let isOver = OneTimeFlag()
    private let input: FileHandle
    private let lines: AsyncThrowingStream<Data, any Error>
    /// The number of the latest request, and of the program that the process runs; 0 for none.
    private let (counter, program): (SharedNumber, SharedNumber)
    private let counterPath: String
    /// What the process has written to standard error.
    private let errors: FileHandle
    private let endings: Task<(reason: Process.TerminationReason, status: Int32), Never>

    /// The longest line of either process, in bytes: the files of requests, or a block's new responses, in base64.
    private static let maximumLine = 384 << 20

    init(_ arm: ArmSpecification, usesNoProxy: Bool = false) throws {
        counterPath = NSTemporaryDirectory() + "netlayer-\(UUID().uuidString)"
        Drafts.add(counterPath)
        do throws(SystemFailure) {
            (counter, program) = (try SharedNumber(path: counterPath), try SharedNumber(path: counterPath, place: 1))
        } catch {
            Drafts.delete(counterPath)
            throw ToolFailure.unwritable("the folder for temporary files", error)
        }
        let child = Process()
        let (toChild, fromChild) = (Pipe(), Pipe())
        child.executableURL = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath()
        child.arguments = ["arm"]
        var environment = ProcessInfo.processInfo.environment
        if let libcurl = arm.libcurl { environment["LD_LIBRARY_PATH"] = libcurl }
        if usesNoProxy { environment = environment.filter { !$0.key.lowercased().hasSuffix("_proxy") } }
        // The backtrace of a crash takes seconds.
        environment["SWIFT_BACKTRACE"] = "enable=no"
        child.environment = environment
        (child.standardInput, child.standardOutput) = (toChild, fromChild)
        let said: FileHandle
        (said, errors) = try Self.namelessFile(counterPath + ".txt")
        child.standardError = said
        defer { try? said.close() }
        let (ends, ending) = AsyncStream<(reason: Process.TerminationReason, status: Int32)>.makeStream()
        child.terminationHandler = { [isOver] process in
            _ = isOver.raise()
            ending.yield((process.terminationReason, process.terminationStatus))
            ending.finish()
        }
        do { try child.run() } catch {
            // Foundation closes the numbers up to 255, and the system refuses those beyond its limit.
            let isLimited = sysconf(Int32(_SC_OPEN_MAX)) < 256
            let hint = isLimited ? "; it needs 256 open files at least ('ulimit -n')" : ""
            throw ToolFailure(.file, "the process of an arm can't be started: \(error.localizedDescription)\(hint)")
        }
        (number, input) = (child.processIdentifier, toChild.fileHandleForWriting)
        lines = Self.lines(of: fromChild.fileHandleForReading)
        endings = Task { await ends.first { _ in true } ?? (.exit, -1) }
    }

    deinit {
        endNow()
        Drafts.delete(counterPath)
    }

    /// Returns a file without a name, which leaves nothing behind, to write and to read.
    private static func namelessFile(_ path: String) throws -> (writing: FileHandle, reading: FileHandle) {
        Drafts.add(path)
        defer { Drafts.delete(path) }
        guard FileManager.default.createFile(atPath: path, contents: nil, attributes: [.posixPermissions: 0o600]),
            let writing = FileHandle(forWritingAtPath: path), let reading = FileHandle(forReadingAtPath: path)
        else { throw ToolFailure(.file, "the folder for temporary files can't be written") }
        return (writing, reading)
    }

    /// Returns the lines of the other process, which are read in any case.
    /// - Parameter onEnd: Called when the other process has closed the pipe.
    static func lines(
        of handle: FileHandle, onEnd: @escaping @Sendable () -> Void = {}
    ) -> AsyncThrowingStream<Data, any Error> {
        let (stream, lines) = AsyncThrowingStream<Data, any Error>.makeStream()
        Task {
            do {
                let source = ByteSource(reading: handle.fileDescriptor, name: "an arm's pipe")
                for try await line in source.lines(limit: maximumLine) { lines.yield(Data(line.bytes ?? [])) }
                onEnd()
                lines.finish()
            } catch {
                lines.finish(throwing: error)
            }
            try? handle.close()
        }
        return stream
    }

    /// Tells the process who it is and what it sends.
    /// - Returns: The library that the arm runs over.
    /// - Throws: ``Ended``, or ``ToolFailure`` with the words of a child that can't use the arguments.
    func begin(
        _ arm: ArmSpecification, arguments: [String], files: [String: Data], within patience: Duration
    ) async throws -> String {
        let order = ArmOrder(arm: arm.text, arguments: arguments, files: files, counter: counterPath)
        switch try await reply(to: order, within: patience) {
        case .ready(let library):
            // Both processes have the file open.
            Drafts.delete(counterPath)
            return library
        case .refused(let words): throw ToolFailure(.usage, words)
        case .block: throw Ended(text: "wrote something else than it should")
        }
    }

    func run(_ order: BlockOrder, within patience: Duration) async throws -> BlockReport {
        guard case .block(let report) = try await reply(to: order, within: patience) else {
            throw Ended(text: "wrote something else than it should")
        }
        return report
    }

    private func reply(to order: some Encodable, within patience: Duration) async throws -> ArmReply {
        do {
            let bytes = try JSONEncoder().encode(order) + [UInt8(ascii: "\n")]
            // On a thread of its own: a child that does not read blocks it until its end. A pipe that the child has
            // left is no error: how the child ended says more.
            Thread.detachNewThread { [input] in try? input.write(contentsOf: bytes) }
            let line = try await growing({ [counter] in counter.value }, within: patience) { [lines] in
                for try await line in lines { return line as Data? }
                try Task.checkCancellation()
                return nil
            }
            if let line { return try JSONDecoder().decode(ArmReply.self, from: line) }
        } catch is NoGrowth {
            let number = counter.value
            await end()
            throw Ended(text: "hung: nothing happened for \(patience.shortText) after request \(number)")
        } catch let error as CancellationError {
            await end()
            throw error
        } catch {
            // A pipe that the child has left, or a line that it should not write: how it ended says more.
        }
        // A child that lives on would be waited for without end.
        endNow()
        throw await ended()
    }

    /// Returns how the process ended, with the last line of what it said.
    private func ended() async -> Ended {
        let (reason, status) = await endings.value
        let how = reason == .uncaughtSignal ? "ended by signal \(status)" : "ended with status \(status)"
        let said = (try? errors.readToEnd()).map { String(decoding: $0, as: UTF8.self) } ?? ""
        let last = said.split(separator: "\n").last { $0.contains("error") || $0.contains("rror:") }
        let words = last.map { ": " + TerminalText.line(String($0.prefix(200))) } ?? ""
        return Ended(text: "\(how) at request \(counter.value)\(words)")
    }

    /// Ends the process: its input ends, so that it ends its program and itself, and after some time by force. That
    /// time is below the one of ``Interruption``.
    func end() async {
        try? input.close()
        let (ends, ending) = AsyncStream<Void>.makeStream()
        Task { [number] in
            _ = await ChildEnd.wait(for: number)
            ending.finish()
        }
        // A task of its own, which the cancellation of this one does not cut short.
        await Task { await atMost(.milliseconds(500)) { for await _ in ends {} } }.value
        endNow()
    }

    /// Ends the process by force, and the program that it leaves.
    private func endNow() {
        if isOver.raise() { kill(number, SIGKILL) }
        let left = pid_t(truncatingIfNeeded: program.value)
        guard left > 0 else { return }
        kill(-left, SIGKILL)
        // The system may give the number to another process.
        program.value = 0
    }
}

/// A number did not grow for too long.
struct NoGrowth: Error {}

/// Returns what `work` returns.
func growing<Value: Sendable>(
    _ number: @escaping @Sendable () -> Int, within patience: Duration,
    _ work: @escaping @Sendable () async throws -> Value
) async throws -> Value {
    try await withThrowingTaskGroup(of: Value.self) { group in
        defer { group.cancelAll() }
        group.addTask(operation: work)
        group.addTask {
            var seen = number()
            while true {
                try await Task.sleep(for: patience)
                let now = number()
                if now == seen { throw NoGrowth() }
                seen = now
            }
        }
        guard let value = try await group.next() else { throw CancellationError() }
        return value
    }
}
