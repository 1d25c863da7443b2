import Foundation
import NetworkTesting
import Testing
import ToolSupport

/// What happens to signals from the first instruction of the program on, and in the programs that it starts.
@Suite("Signals", .patience(minutes: 2)) struct SignalTests {
    /// Returns the signals of a line of `/proc/…/status`, such as `SigIgn` (proc_pid_status(5)).
    fileprivate static func signals(_ line: String, in status: String) -> Set<Int32>? {
        guard let found = status.split(separator: "\n").first(where: { $0.hasPrefix("\(line):") }),
            let mask = found.split(separator: "\t").last.flatMap({ UInt64($0, radix: 16) })
        else { return nil }
        return Set((1...31).filter { mask & (1 << (UInt64($0) - 1)) != 0 })
    }

    /// Regression: the program ignored the signals before it listened to them, so that a supervisor's only SIGTERM was
    /// lost if it came within the first thirty milliseconds.
    @Test func `no signal that ends the program is ignored at any time`() async throws {
        let server = try ScriptedServer([.read, .stall])
        let tool = try RunningTool(["fetch", server.url()])
        var ignored: Set<Int32> = []
        while server.requests.isEmpty {
            let status = try String(contentsOfFile: "/proc/\(tool.number)/status", encoding: .utf8)
            ignored.formUnion(try #require(Self.signals("SigIgn", in: status)))
            await Task.yield()
        }
        #expect(ignored.isDisjoint(with: [SIGINT, SIGTERM, SIGHUP]))
        tool.send(SIGTERM)
        #expect(await tool.status == 128 + SIGTERM)
    }
}

/// The signals of a program that is compared: a suite of the comparisons, which run apart from other tests.
@Suite("Signals of a compared program", .patience(minutes: 2)) struct SignalCompareTests {
    /// A program of `nohup` that is compared is one too.
    @Test func `a compared program inherits the signals that the comparison's parent ignores, and no other ones`()
        async throws
    {
        let folder = TestFolder()
        let program = "grep -e SigIgn -e SigBlk /proc/self/status >> \(folder.path("seen"))"
        let command = "trap '' HUP; exec '\(RunningTool.path)' compare --exec '\(program)' -n 2"
        RunningTool.setDefaultSignals
        _ = try await ToolRun(["-c", command], of: "/bin/sh", status: 0)
        let seen = try folder.read("seen")
        for (line, expected) in [("SigBlk", []), ("SigIgn", [SIGHUP])] {
            #expect(SignalTests.signals(line, in: seen) == Set(expected), "\(line)")
        }
    }
}
