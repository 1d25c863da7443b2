import Foundation
import NetworkComparison
import NetworkLayer

/// The process of an arm, from the side of the comparison.
final class ArmProcess: Sendable {
    /// How a process ended that should not have.
    struct Ended: Error, Sendable {
        /// The end in words, such as `ended by signal 4 at request 17`.
        var text: String
    }

    private let number: pid_t
    private let isOver = OneTimeFlag()
    private let input: FileHandle
    private let lines: LineReader
    private let counter: SharedNumber
    /// The program that the process runs; 0 for none.
    private let program: SharedNumber
    private let counterPath: String
    /// What the process has written to standard error.
    private let errors: FileHandle
    private let endings: Task<(reason: Process.TerminationReason, status: Int32), Never>

    /// Starts the process.
    /// - Parameter usesNoProxy: Whether its environment has no proxies.
    init(_ arm: ArmSpecification, usesNoProxy: Bool = false) throws {
        counterPath = NSTemporaryDirectory() + "netlayer-\(UUID().uuidString)"
        Drafts.add(counterPath)
        do throws(SystemFailure) {
            counter = try SharedNumber(path: counterPath)
            program = try SharedNumber(path: counterPath, place: 1)
        } catch {
            Descriptor.remove(counterPath)
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
        child.standardInput = toChild
        child.standardOutput = fromChild
        let said: FileHandle
        (said, errors) = try Self.namelessFile(counterPath + ".txt")
        child.standardError = said
        let (ends, ending) = AsyncStream<(reason: Process.TerminationReason, status: Int32)>.makeStream()
        child.terminationHandler = { [isOver] process in
            _ = isOver.raise()
            ending.yield((process.terminationReason, process.terminationStatus))
            ending.finish()
        }
        defer { try? said.close() }
        do { try child.run() } catch {
            // Foundation closes the numbers up to 255, and the system refuses those beyond its limit.
            let isLimited = sysconf(Int32(_SC_OPEN_MAX)) < 256
            let hint = isLimited ? "; it needs 256 open files at least ('ulimit -n')" : ""
            throw ToolFailure(.file, "the process of an arm can't be started: \(error.localizedDescription)\(hint)")
        }
        number = child.processIdentifier
        input = toChild.fileHandleForWriting
        lines = LineReader(fromChild.fileHandleForReading)
        endings = Task { await ends.first { _ in true } ?? (.exit, -1) }
    }

    deinit {
        endNow()
        removeCounter()
    }

    /// Removes the name of the counter: both processes have it open, or one of them has ended.
    private func removeCounter() {
        Descriptor.remove(counterPath)
        Drafts.remove(counterPath)
    }

    /// Returns a file without a name, which leaves nothing behind, to write and to read.
    private static func namelessFile(_ path: String) throws -> (writing: FileHandle, reading: FileHandle) {
        Drafts.add(path)
        defer {
            Descriptor.remove(path)
            Drafts.remove(path)
        }
        guard FileManager.default.createFile(atPath: path, contents: nil, attributes: [.posixPermissions: 0o600]),
            let writing = FileHandle(forWritingAtPath: path), let reading = FileHandle(forReadingAtPath: path)
        else { throw ToolFailure(.file, "the folder for temporary files can't be written") }
        return (writing, reading)
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
            removeCounter()
            return library
        case .refused(let words): throw ToolFailure(.usage, words)
        case .block: throw Ended(text: "wrote something else than it should")
        }
    }

    /// Runs a block.
    /// - Throws: ``Ended`` if the process ends or hangs.
    func run(_ order: BlockOrder, within patience: Duration) async throws -> BlockReport {
        guard case .block(let report) = try await reply(to: order, within: patience) else {
            throw Ended(text: "wrote something else than it should")
        }
        return report
    }

    private func reply(to order: some Encodable, within patience: Duration) async throws -> ArmReply {
        do {
            let bytes = try JSONEncoder().encode(order) + [UInt8(ascii: "\n")]
            // On a thread of its own: a child that does not read blocks it until its end.
            let thread = Thread { [input] in
                // A pipe that the child has left: how the child ended says more.
                try? input.write(contentsOf: bytes)
            }
            thread.start()
            if let line = try await lines.next(within: patience, progress: { [counter] in counter.value }) {
                return try JSONDecoder().decode(ArmReply.self, from: line)
            }
        } catch is LineReader.TimedOut {
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
        let words = last.map { ": " + Redaction().text(String($0.prefix(200))) } ?? ""
        return Ended(text: "\(how) at request \(counter.value)\(words)")
    }

    /// The time for the end of the process by itself. It is below that of ``Interruption``.
    private static let grace = Duration.milliseconds(500)

    /// Ends the process: its input ends, so that it ends its program and itself, and after some time by force.
    func end() async {
        try? input.close()
        let (ends, ending) = AsyncStream<Void>.makeStream()
        Task { [number] in
            _ = await ChildEnd.wait(for: number)
            ending.finish()
        }
        // A task of its own, which the cancellation of this one does not cut short.
        await Task {
            await atMost(Self.grace) { for await _ in ends {} }
        }.value
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

/// Reads lines from a pipe on a thread of its own, since a read may block for as long as a child runs.
final class LineReader: Sendable {
    struct TimedOut: Error {}

    /// The longest line, in bytes: the files of requests, or a block's new responses, in base64.
    private static let maximumLine = 384 << 20

    private let stream: AsyncThrowingStream<Data, any Error>

    /// - Parameter onEnd: Called on the reader's thread when the other side has closed the pipe.
    init(_ handle: FileHandle, onEnd: (@Sendable () -> Void)? = nil) {
        let (stream, lines) = AsyncThrowingStream<Data, any Error>.makeStream()
        self.stream = stream
        let thread = Thread {
            var splitter = LineSplitter(limit: Self.maximumLine)
            let descriptor = Descriptor(number: handle.fileDescriptor)
            do {
                while true {
                    let chunk = try descriptor.read()
                    if chunk.isEmpty { break }
                    for line in splitter.lines(in: chunk) {
                        guard let bytes = line.bytes else { throw SystemFailure(EMSGSIZE) }
                        lines.yield(Data(bytes))
                    }
                }
                onEnd?()
                lines.finish()
            } catch {
                lines.finish(throwing: error)
            }
            try? handle.close()
        }
        thread.name = "netlayer arm"
        thread.start()
    }

    /// Returns the next line; `nil` at the end.
    /// - Parameters:
    ///   - patience: The longest time without progress.
    ///   - progress: A number that grows while the line is being made. Default: none.
    /// - Throws: ``TimedOut``, `CancellationError`, or the failure of the read.
    func next(within patience: Duration, progress: @escaping @Sendable () -> Int = { 0 }) async throws -> Data? {
        try await withThrowingTaskGroup(of: Data?.self) { group in
            group.addTask { [stream] in
                for try await line in stream { return line }
                try Task.checkCancellation()
                return nil
            }
            group.addTask {
                var seen = progress()
                while true {
                    try await Task.sleep(for: patience)
                    let now = progress()
                    if now == seen { throw TimedOut() }
                    seen = now
                }
            }
            defer { group.cancelAll() }
            return try await group.next() ?? nil
        }
    }
}
