import Foundation
import NetworkComparison
import NetworkLayer
import Synchronization

/// Runs a program of the user's, one run after another, in the process of an arm. Its environment names the arm's
/// transport.
final class ProgramWorker: BlockWorker {
    private let command: String
    private let variable: String
    private let timeout: Duration
    private let counter: SharedNumber
    private let memory = Guarded(ResponseMemory())

    /// - Parameters:
    ///   - command: The command, for `sh -c`.
    ///   - variable: The value of ``TransportKind/variable``.
    init(_ command: String, under variable: String, timeout: Duration, counter: SharedNumber) {
        (self.command, self.variable, self.timeout, self.counter) = (command, variable, timeout, counter)
    }

    func run(_ order: BlockOrder) async throws -> BlockReport {
        var report = BlockReport()
        report.requests = order.requests
        for _ in 0..<order.requests {
            counter.increase()
            let before = ProcessFigures.children
            let start = ContinuousClock.now
            let run = try await ProgramRun(command, [TransportKind.variable: variable], timeout: timeout)
            let seconds = (ContinuousClock.now - start) / .seconds(1)
            let after = ProcessFigures.children
            report.seconds += seconds
            report.cpuMicroseconds += after.cpuMicroseconds - before.cpuMicroseconds
            report.contextSwitches += after.contextSwitches - before.contextSwitches
            report.peakResidentKB = after.peakResidentKB
            if run.recorded.errorCode == nil { report.latencies.append(seconds * 1000) }
            let (number, isNew) = memory.withLock { $0.number(of: run.recorded) }
            report.outcomes[number, default: 0] += 1
            if isNew { report.new[number] = run.recorded }
        }
        return report
    }
}

/// The program that runs. Each has a process group of its own, with what it has started.
enum RunningProgram {
    private static let number = Atomic<pid_t>(0)

    static func begin(_ program: pid_t) { number.store(program, ordering: .releasing) }

    /// Ends a program and what it has started.
    static func end(_ program: pid_t) {
        kill(-program, SIGKILL)
        number.store(0, ordering: .releasing)
    }

    /// Ends the one that runs.
    static func endAny() {
        let program = number.load(ordering: .acquiring)
        if program > 0 { end(program) }
    }
}

/// One run of a program: its exit status takes the place of a response's, its output that of a body.
private struct ProgramRun {
    var recorded = RecordedResponse()

    /// The most bytes of output that are kept.
    private static let maximumOutput = 64 << 20

    init(_ command: String, _ variables: [String: String], timeout: Duration) async throws {
        let process = Process()
        process.executableURL = URL(filePath: "/bin/sh")
        process.arguments = ["-c", command]
        process.environment = ProcessInfo.processInfo.environment.merging(variables) { $1 }
        // Our own input has the orders.
        process.standardInput = FileHandle.nullDevice
        let output = Pipe()
        process.standardOutput = output
        let (ends, ending) = AsyncStream<(reason: Process.TerminationReason, status: Int32)>.makeStream()
        process.terminationHandler = { process in
            ending.yield((process.terminationReason, process.terminationStatus))
            ending.finish()
        }
        try process.run()
        let number = process.processIdentifier
        let isLate = OneTimeFlag()
        let killer = Task {
            try await Task.sleep(for: timeout)
            _ = isLate.raise()
            RunningProgram.end(number)
        }
        RunningProgram.begin(number)
        defer {
            killer.cancel()
            RunningProgram.end(number)
        }
        var text = Data()
        for try await chunk in ByteSource(reading: output.fileHandleForReading.fileDescriptor, name: "the program")
            .chunks()
        where text.count < Self.maximumOutput {
            text += chunk
        }
        let end = await ends.first { _ in true } ?? (.exit, -1)
        try? output.fileHandleForReading.close()
        recorded.setBody(text)
        if isLate.isRaised {
            (recorded.errorCode, recorded.errorText) = (
                "totalTimeout", "the program did not end within \(timeout.shortText)"
            )
        } else if end.reason == .uncaughtSignal {
            recorded.errorCode = "signal \(end.status)"
            recorded.errorText = "the program ended by signal \(end.status)"
        } else {
            recorded.status = Int(end.status)
        }
    }
}
