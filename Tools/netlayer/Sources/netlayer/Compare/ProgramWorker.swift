import Foundation
import NetworkComparison
import NetworkLayer

/// Runs a program of the user's, one run after another, in the process of an arm. Its environment names the arm's
/// transport.
final class ProgramWorker: BlockWorker {
    private let command: String
    private let variable: String
    private let timeout: Duration
    private let counter: SharedNumber
    private let memory = Guarded(ResponseMemory())

    init(
        _ command: String, under variable: String, timeout: Duration, counter: SharedNumber, program: SharedNumber
    ) {
        (self.command, self.variable, self.timeout, self.counter) = (command, variable, timeout, counter)
        RunningProgram.share(program)
    }

    func run(_ order: BlockOrder) async throws -> BlockReport {
        var report = BlockReport()
        report.requests = order.requests
        for _ in 0..<order.requests {
            counter.increase()
            let before = ProcessFigures.children
            let run = try await ProgramRun(command, [TransportKind.variable: variable], timeout: timeout)
            let seconds = (run.end - run.start) / .seconds(1)
            report.seconds += seconds
            report.add(since: before, until: .children)
            if run.recorded.errorCode == nil { report.latencies.append(seconds * 1000) }
            report.count(memory.withLock { $0.number(of: run.recorded) })
        }
        return report
    }
}

/// The program that runs. Each has a process group of its own, with what it has started.
enum RunningProgram {
    private struct State {
        var isLast = false
        /// Where the comparison sees the number, to end the program if this process can't.
        var shared: SharedNumber?
        /// 0 for none.
        var number: pid_t = 0 {
            didSet { shared?.value = Int(number) }
        }
    }

    private static let state = Guarded(State())

    /// Writes the number of the program that runs to a place from now on.
    static func share(_ number: SharedNumber) { state.withLock { $0.shared = number } }

    /// The arguments of `sh` that run a command once the shell's input has a line. If the input ends before, since the
    /// process that started the shell has ended, the command does not run.
    static func arguments(toRun command: String) -> [String] {
        ["-c", "read -r _ && exec /bin/sh -c \"$1\" < /dev/null", "sh", command]
    }

    /// Starts a program.
    /// - Returns: When it may run. The CPU time of the shell that waits until then counts as the program's.
    static func start(_ program: Process, _ command: String) throws -> ContinuousClock.Instant {
        program.executableURL = URL(filePath: "/bin/sh")
        program.arguments = arguments(toRun: command)
        let input = Pipe()
        program.standardInput = input
        // Within the lock: a program that starts now must not be missed by the end.
        try state.withLock { state in
            if state.isLast { throw CancellationError() }
            try Signals.withDefaults { try program.run() }
            state.number = program.processIdentifier
        }
        // Only now may the command run: from here on the comparison ends it if this process can't.
        let start = ContinuousClock.now
        let line = Descriptor(number: input.fileHandleForWriting.fileDescriptor)
        // Where the shell has ended already, its status says why.
        try? line.write([UInt8(ascii: "\n")])
        try? input.fileHandleForWriting.close()
        return start
    }

    /// Ends a program and what it has started.
    static func end(_ program: pid_t) {
        kill(-program, SIGKILL)
        state.withLock { if $0.number == program { $0.number = 0 } }
    }

    /// Ends the one that runs, and lets no other one start.
    static func endForGood() {
        state.withLock { state in
            state.isLast = true
            if state.number > 0 { kill(-state.number, SIGKILL) }
            state.number = 0
        }
    }
}

/// One run of a program: its exit status takes the place of a response's, its output that of a body.
private struct ProgramRun {
    var recorded = RecordedResponse()
    /// When the program started, and when it ended, and not what it has started.
    let start, end: ContinuousClock.Instant

    /// The time for the output that is left in the pipe. A process in a group of its own may keep the pipe open.
    private static let drain = Duration.seconds(10)

    /// The pipes that a process still holds which has left the program's group.
    private static let open = Guarded<[Pipe]>([])

    init(_ command: String, _ variables: [String: String], timeout: Duration) async throws {
        let (process, output) = (Process(), Pipe())
        process.environment = ProcessInfo.processInfo.environment.merging(variables) { $1 }
        // A file would let a program fill the disk.
        (process.standardError, process.standardOutput) = (FileHandle.nullDevice, output)
        let (ends, ending) = AsyncStream<ChildEnd>.makeStream()
        process.terminationHandler = { process in
            ending.yield(
                ChildEnd(
                    status: process.terminationStatus, isBySignal: process.terminationReason == .uncaughtSignal))
            ending.finish()
        }
        start = try RunningProgram.start(process, command)
        let number = process.processIdentifier
        let isLate = OneTimeFlag()
        let killer = Task {
            try await Task.sleep(for: timeout)
            _ = isLate.raise()
            RunningProgram.end(number)
        }
        let source = ByteSource(reading: output.fileHandleForReading.fileDescriptor, name: "the program")
        let reader = Task {
            var text = ProgramOutput()
            while case let chunk = try await source.read(), !chunk.isEmpty { text.add(chunk) }
            return text
        }
        var end = await ChildEnd.wait(for: number)
        if end == nil { end = await ends.first { _ in true } }
        self.end = .now
        killer.cancel()
        // What it has started holds the other end of the pipe.
        RunningProgram.end(number)
        let isDrained = OneTimeFlag()
        await atMost(Self.drain) {
            // Stopped, it returns what it has read.
            await withTaskCancellationHandler {
                _ = await reader.result
            } onCancel: {
                source.stop()
            }
            // Its CPU time counts from then on.
            for await _ in ends {}
            if !Task.isCancelled { _ = isDrained.raise() }
        }
        if isDrained.isRaised {
            try output.fileHandleForReading.close()
        } else {
            // Its number must not be another file's while a thread may still read.
            Self.open.withLock { $0.append(output) }
        }
        // Output that could not be read is a failure, and not a shorter output.
        try await reader.value.setBody(of: &recorded)
        func fail(_ code: String, _ text: String) { (recorded.errorCode, recorded.errorText) = (code, text) }
        if isLate.isRaised {
            fail("totalTimeout", "the program did not end within \(timeout.shortText)")
        } else if let signal = end?.signal {
            fail("signal \(signal)", "the program ended by signal \(signal)")
        } else if let end, [126, 127].contains(end.status) {
            // POSIX, Shell Command Language, 2.8.2.
            fail("status \(end.status)", "the shell could not run the program: status \(end.status)")
        } else {
            recorded.status = Int(end?.status ?? -1)
        }
    }
}

/// The output of a program, chunk by chunk: its bytes up to a limit, and beyond it the length and the SHA-256 of all.
struct ProgramOutput: Sendable {
    /// The most bytes that are kept. Until then nothing is calculated while the program's time runs.
    static let maximumKept = 64 << 20

    private let limit: Int
    private var kept = Data()
    private var count = 0
    private var checksum: SHA256Checksum?

    init(limit: Int = Self.maximumKept) { self.limit = limit }

    mutating func add(_ chunk: [UInt8]) {
        count += chunk.count
        if checksum == nil {
            kept += chunk
            guard kept.count > limit else { return }
            checksum = SHA256Checksum()
            checksum?.update(kept)
            kept = Data()
        } else {
            checksum?.update(Data(chunk))
        }
    }

    /// Makes the output the body of a response.
    func setBody(of response: inout RecordedResponse) {
        guard var checksum else { return response.setBody(kept) }
        response.setDigest(checksum.finish(), length: count)
    }
}
