import Foundation
import NetworkTesting
import Testing
import ToolSupport

@testable import netlayer

/// A comparison's time, kept also where servers hang.
@Suite("The time of netlayer compare", .patience(minutes: 2)) struct TimeCompareTests {
    /// With blocks by count, the first one alone would be 200,000 requests.
    @Test func `a time bounds the blocks too, and one arm suffices with a baseline`() async throws {
        let (server, folder) = (try ScriptedServer(.ok("hello")), TestFolder())
        let file = folder.path("run.json")
        let arguments = ["--as-json", server.url(), "--time", "2", "-n", "10000000", "--arm", "curl"]
        _ = try await ToolRun(["compare", "--arm", "curl:loops=1", "--save", file] + arguments, status: 0)
        let one = try await ToolRun(["compare", "--baseline", file] + arguments, status: 0)
        #expect(try JSONDecoder().decode(Report.self, from: one.output).changes.count == 8)
        let alone = try await ToolRun(["compare"] + arguments)
        #expect(alone.status == 2 && alone.errors.contains("a second --arm, or an earlier run by --baseline"))
    }

    @Test func `a server that hangs does not hold up a comparison with a time`() async throws {
        let server = try ScriptedServer([.read, .stall])
        let begin = ContinuousClock.now
        let run = try await ToolRun([
            "compare", server.url(), "--time", "4", "--timeout", "1", "--warm-up", "100", "--arm", "curl", "--arm",
            "curl:loops=1",
        ])
        #expect(run.status == 1 && run.text.contains("totalTimeout"))
        // Seen: 10 s, and 97 s on a busy machine; the warm-ups alone would take 750 s.
        #expect(ContinuousClock.now - begin < .seconds(400))
    }

    /// Regression: each further process sent the first requests of all URLs, after the time was over too.
    @Test func `a server that hangs later does not hold up a comparison of many URLs`() async throws {
        let script: Script = [.read, .send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"), .close]
        let servers = try (0..<6).map { _ in
            try ScriptedServer(scripts: Array(repeating: script, count: 60) + [[.read, .stall]])
        }
        defer { servers.forEach { $0.stop() } }
        let begin = ContinuousClock.now
        _ = try await ToolRun(
            ["compare", "--time", "3", "--timeout", "3", "--arm", "curl", "--arm", "curl:loops=1"]
                + servers.map { $0.url() })
        // Seen: half a minute; each further process would take one.
        #expect(ContinuousClock.now - begin < .seconds(240))
    }
}
