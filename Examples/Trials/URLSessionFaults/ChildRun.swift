import Foundation
import NetworkTesting
import TrialSupport

/// One row with one subject, in its own process, because it may crash or hang.
struct ChildRun {
    let row: FaultRow
    let subject: Subject

    func run() throws -> Report {
        let servers = try row.servers()
        defer { for server in servers { server.stop() } }
        let child = Process()
        child.executableURL = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath()
        child.arguments = [row.id, subject.rawValue] + servers.map { "\($0.port)" }
        var environment = ProcessInfo.processInfo.environment
        // Writing a backtrace takes seconds, and it is not used.
        environment["SWIFT_BACKTRACE"] = "enable=no"
        child.environment = environment
        let output = Pipe()
        child.standardOutput = output
        child.standardError = FileHandle(forWritingAtPath: "/dev/null")
        let isOver = DispatchSemaphore(value: 0)
        child.terminationHandler = { _ in isOver.signal() }
        try child.run()
        // The deadline counts from the start of the probe, and is longer on a busy machine.
        let words = output.fileHandleForReading
        _ = try words.read(upToCount: 1)
        let start = Date.now
        var cpu = 0
        var end: Report.End?
        if isOver.wait(timeout: .now() + row.patience * max(1, min(3, ProcessFigures.loadPerCore))) == .timedOut {
            cpu = ProcessFigures.of("\(child.processIdentifier)").cpuMilliseconds
            end = .hung
            kill(child.processIdentifier, SIGKILL)
            isOver.wait()
        }
        let said = String(decoding: try words.readToEnd() ?? Data(), as: UTF8.self)
        if end == nil {
            switch child.terminationReason {
            case .uncaughtSignal: end = .signal(child.terminationStatus)
            case _ where child.terminationStatus != 0: end = .other(child.terminationStatus)
            default: end = .answered
            }
        }
        return Report(
            end: end ?? .hung,
            said: said.trimmingCharacters(in: .whitespacesAndNewlines),
            server: row.serverSaw(servers),
            cpuMilliseconds: cpu,
            seconds: Date.now.timeIntervalSince(start)
        )
    }
}
