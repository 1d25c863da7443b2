import Foundation
import NetworkTesting
import TrialSupport

/// One row tried on one subject, in a process of its own: it may end, and it may hang.
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
        // A trace of the fault takes seconds and is not looked at.
        environment["SWIFT_BACKTRACE"] = "enable=no"
        child.environment = environment
        let output = Pipe()
        child.standardOutput = output
        child.standardError = FileHandle(forWritingAtPath: "/dev/null")
        let isOver = DispatchSemaphore(value: 0)
        child.terminationHandler = { _ in isOver.signal() }
        let start = Date.now
        try child.run()
        var cpu = 0
        var end: Report.End?
        if isOver.wait(timeout: .now() + row.patience) == .timedOut {
            cpu = ProcessFigures.of("\(child.processIdentifier)").cpuMilliseconds
            end = .hung
            kill(child.processIdentifier, SIGKILL)
            isOver.wait()
        }
        let words = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        if end == nil {
            switch child.terminationReason {
            case .uncaughtSignal: end = .signal(child.terminationStatus)
            case _ where child.terminationStatus != 0: end = .other(child.terminationStatus)
            default: end = .answered
            }
        }
        return Report(
            end: end ?? .hung,
            said: words.trimmingCharacters(in: .whitespacesAndNewlines),
            server: row.serverSaw(servers),
            cpuMilliseconds: cpu,
            seconds: Date.now.timeIntervalSince(start)
        )
    }
}
