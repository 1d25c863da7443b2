import ArgumentParser
import Foundation
import NetworkComparison
import NetworkLayer
import NetworkTesting
import Testing
import ToolSupport

@testable import netlayer

@Suite("Comparisons at a rate", .patience(minutes: 2)) struct OpenLoadTests {
    private static func schedules(_ arms: Int, seed: UInt64 = 1) -> [OpenSchedule] {
        (0..<arms).map { OpenSchedule(rate: 100, arms: arms, arm: $0, seed: seed, begin: .now) }
    }

    @Test(arguments: [1, 2, 3, 9]) func `each intended start is one arm's`(arms: Int) {
        let starts = Self.schedules(arms).map { $0.starts(50) }
        #expect(starts.allSatisfy { $0.count == 50 && $0 == $0.sorted() })
        #expect(starts.flatMap(\.self).sorted() == (0..<(50 * arms)).map { Double($0) / 100 })
        #expect(arms == 1 || Self.schedules(arms, seed: 2).map { $0.starts(50) } != starts)
    }

    /// Regression: an arm waited for the last response of the one before it, so a stall met one arm's block alone.
    @Test func `what was due while nothing could be sent is late by all of that time`() async throws {
        let stub = StubTransport()
        stub.always(.any, .text("there"))
        let worker = try ArmWorker.test(over: stub)
        let schedule = OpenSchedule(rate: 1000, seed: 1, begin: .now - .seconds(5))
        let report = try await worker.run(BlockOrder(url: 0, requests: 10, concurrency: 1, starts: schedule))
        #expect(report.latencies.count == 10 && report.latencies.allSatisfy { $0 > 4_980 })
    }

    @Test(arguments: [
        (900, 300.0, 5, 1.8), (20_000, 300.0, 10, 20), (3, 1.0, 3, 3), (2_000, 300.0, 10, 2),
    ])
    func `each process sends once, and for as long as the requests suffice`(
        requests: Int, rate: Double, processes: Int, seconds: Double
    ) throws {
        let design = try CompareCommand.parse(["http://h/", "-n", "\(requests)", "--rate", "\(rate)"])
            .design(weights: [1])
        #expect((design.rounds, design.processes) == (processes, processes))
        #expect(abs((design.openSeconds(of: design.blockSize) ?? 0) - seconds) < 0.2)
    }

    @Test func `the arms of an open load send at the same time`() async throws {
        // A response takes longer than a busy machine takes to send what is due in a third of a second.
        let server = try ScriptedServer([
            .read, .pause(.seconds(5)), .send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"), .close,
        ])
        let url = server.url()
        async let run = ToolRun.compare(
            url, "--arm", "curl", "--arm", "curl:loops=2", "-n", "10", "--rate", "100", "--processes", "1",
            "--warm-up", "0")
        // One arm after another would have ten.
        try await server.wait(atMost: .seconds(60)) { $0.connectionCount - $0.endedConnectionCount >= 30 }
        let blocks = try await run.report.urls[0].arms.compactMap(\.blocks.first)
        #expect(blocks.count == 3 && blocks.allSatisfy { $0.latencies.count == 10 })
    }
}
