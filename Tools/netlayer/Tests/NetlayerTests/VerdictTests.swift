import ArgumentParser
import Foundation
import struct NetworkComparison.RecordedResponse
import NetworkLayer
import Testing
import ToolSupport

@testable import netlayer

@Suite("Verdicts on what is not time", .patience(minutes: 1)) struct VerdictTests {
    private static func blocks(
        latency: Double = 1, cold: Double = 10, connections: Int? = 0, attempts: Int = 100, seconds: Double = 1,
        cpu: Double = 5_000
    ) -> [Block] {
        (0..<10).map { process in
            Block(
                latencies: Array(repeating: latency + Double(process % 3) / 10, count: 100), seconds: seconds,
                cpuMicroseconds: cpu, requests: 100, process: process, colds: [cold + Double(process % 4) / 2],
                connections: connections, attempts: attempts)
        }
    }

    private static func verdicts(_ one: [Block], _ other: [Block]) -> [Metric: Verdict] {
        var generator = SeededGenerator(seed: 1)
        let all = Verdicts.verdicts(
            url: "u", ("curl", one), ("urlsession", other), noise: [:], comparisons: 1, using: &generator)
        return Dictionary(uniqueKeysWithValues: all.map { ($0.metric, $0) })
    }

    /// Regression: what happens to a connection's first request had no verdict.
    @Test func `first requests, connections and attempts have verdicts`() throws {
        let verdicts = Self.verdicts(Self.blocks(), Self.blocks(cold: 60, connections: 2, attempts: 101))
        #expect(verdicts[.p50]?.decided == false)
        #expect(
            verdicts[.cold]?.text.hasPrefix(
                "first request of a process: curl is 5.7 times as fast as urlsession (95 % CI") == true,
            "\(verdicts[.cold]?.text ?? "")")
        #expect(
            verdicts[.connections]?.text.hasPrefix(
                "connections: curl opens 0 connections for 100 requests, urlsession 2 (95 % CI") == true)
        #expect(
            verdicts[.attempts]?.text.hasPrefix(
                "attempts: curl makes 100 attempts for 100 requests, urlsession 101 (95 % CI") == true)
    }

    @Test func `equal counts are not worth a line, and unknown ones have no verdict`() {
        let equal = Self.verdicts(Self.blocks(), Self.blocks())
        #expect(equal.values.allSatisfy { !$0.decided } && equal[.connections]?.isShown == false)
        #expect(equal[.cold]?.isShown == true)
        #expect(Self.verdicts(Self.blocks(), Self.blocks(connections: nil))[.connections] == nil)
    }

    /// Regression: a rule on what a transport does not report passed for one that holds.
    @Test func `a rule without a verdict is not judged`() throws {
        var result = try Self.result()
        result.verdicts.removeAll { $0.metric == .connections }
        let rule = try FailureRule("connections > +5%")
        #expect(rule.unjudged(in: result).count == 1)
        #expect(rule.unjudged(in: try Self.result()).isEmpty)
        #expect(throws: (any Error).self) {
            try CompareCommand.parse(["http://h/", "--rate", "5", "--fail-if", "memory > 1kB"])
        }
    }

    private static func arm(
        _ name: String, isCopy: Bool = false, first: String, cpu: Double = 5_000, reports: Bool = true
    ) throws -> Arm {
        func response(_ value: String) -> RecordedResponse {
            var response = RecordedResponse()
            (response.status, response.fields) = (200, [.init("X-Number", value)])
            return response
        }
        var arm = try Arm(ArmSpecification(name), urls: 1, isCopy: isCopy)
        for process in 0..<10 {
            var report = BlockReport()
            (report.requests, report.outcomes) = (1, [0: 1])
            if reports { (report.firstOutcomes, report.connections) = ([0: 1], 1) }
            report.new = process == 0 ? [0: response(first), 1: response("1")] : [:]
            report.latencies = [10]
            arm.figures[0].add(report, as: .warmUp, in: process)
            arm.figures[0].colds += report.latencies
            report = BlockReport()
            (report.requests, report.seconds, report.cpuMicroseconds) = (100, 0.1, cpu)
            (report.outcomes, report.connections, report.reuses, report.attempts) = (
                [1: 100], 0, reports ? 100 : 0, 100
            )
            report.latencies = (0..<100).map { 1 + Double($0 % 7) / 10 }
            arm.figures[0].add(report, as: .timed(process: process), in: process)
        }
        return arm
    }

    private static func result(_ first: String = "1", cpu: Double = 5_000, rate: Double? = nil, reports: Bool = true)
        throws -> Report
    {
        let design = ExperimentDesign(
            requests: 1000, concurrency: 4, rate: rate, arms: 3, warmUp: 1, weights: [1], timeout: 1, seed: 1,
            comparisons: 1)
        return Report(
            [
                try arm("curl", first: "1", cpu: cpu),
                try arm("urlsession", first: first, cpu: 5_000, reports: reports),
                try arm("curl", isCopy: true, first: "1", cpu: cpu),
            ], urls: ["http://h/<a>"], design: design)
    }

    /// Regression: first responses are those of warm-ups, which were not compared.
    @Test func `a difference in the first response of each connection is found`() throws {
        let differences = try Self.result("first").differences
        #expect(differences.map(\.where) == ["first response of a connection, field:x-number"])
        #expect(try !Self.result().hasDifferences(for: .differences))
        // URLSession does not report its connections: a process's first request makes one.
        #expect(try Self.result("first", reports: false).differences.count == 1)
    }

    /// Regression: a closed load whose client filled a core measured its own queue, and did not say so.
    @Test func `a client that fills a core is named`() throws {
        let busy = try Self.result(cpu: 107_000)
        #expect(busy.notes.count == 1)
        #expect(busy.notes.first?.hasPrefix("curl keeps 1.1 cores busy: its requests wait for the client") == true)
        #expect(ReportText(busy).lines.contains { $0.hasPrefix("note: curl keeps 1.1 cores busy") })
        #expect(try Self.result(cpu: 50_000).notes.isEmpty)
        #expect(try Self.result(cpu: 107_000, rate: 500).notes.contains { $0.contains("cores") } == false)
    }

    @Test func `the answer comes first, and figures have intervals`() throws {
        let result = try Self.result(cpu: 50_000)
        let answer =
            "no difference found between curl and urlsession at the median; no difference of the responses found."
        let text = ReportText(result).lines
        #expect(text[3] == answer && text.contains { $0.contains("±") }, "\(text)")
        let page = ReportPage(result).text
        #expect(page.contains("<title>curl against urlsession: http://h/&lt;a&gt;</title>"))
        let places = ["<p class=\"answer\">\(answer)</p>", "class=\"forest\"", "<section"].map {
            page.range(of: $0)?.lowerBound
        }
        #expect(places.allSatisfy { $0 != nil } && places.compactMap(\.self) == places.compactMap(\.self).sorted())
    }

    @Test(
        arguments: [
            (0.9, [0, 0.2, 0.4, 0.6, 0.8]), (7.0, [0, 2.0, 4, 6]), (12.0, [0, 5.0, 10]),
            (100.0, [0, 20.0, 40, 60, 80, 100]),
        ] as [(Double, [Double])])
    func `the ticks of an axis are round`(highest: Double, ticks: [Double]) {
        let drawn = Chart.roundTicks(to: highest)
        #expect(drawn.count == ticks.count && zip(drawn, ticks).allSatisfy { abs($0 - $1) < 1e-9 }, "\(drawn)")
    }
}
