import ArgumentParser
import Foundation
import JSONText
import NetworkComparison
import NetworkLayer
import NetworkTesting
import Testing
import ToolSupport

@testable import netlayer

/// Results that are made by hand, in every report.
@Suite("The reports of a comparison", .patience(minutes: 1))
struct ComparisonReportTests {
    /// A result of two arms whose responses differ in a header field, made by hand.
    private static func result(
        _ left: String, _ right: String, slowness: Double = 1,
        leaking leaked: Int = 0, environment: [(name: String, value: String)] = [("cores", "2")]
    ) throws -> ExperimentResult {
        try result(of: arms(left, right, slowness: slowness, leaking: leaked), environment: environment)
    }

    private static func arms(_ left: String, _ right: String, slowness: Double, leaking leaked: Int) throws -> [Arm] {
        func arm(_ name: String, _ body: String, isCopy: Bool = false) throws -> Arm {
            var arm = Arm(try ArmSpecification(name), urls: 1, isCopy: isCopy)
            for block in 0..<8 {
                var (report, response) = (BlockReport(), RecordedResponse())
                response.status = 200
                response.fields = [.init("X-B", body)]
                report.latencies = (0..<20).map { (Double($0 + block) / 10 + 1) * slowness }
                (report.requests, report.seconds, report.cpuMicroseconds) = (20, 0.1, 4_000)
                report.outcomes = [0: 20]
                report.new = block == 0 ? [0: response] : [:]
                let isLeaky = name == "curl:loops=2"
                (report.peakResidentKB, report.descriptors) = (51_200, 12)
                report.memory = 50_000_000 + block * 4096 + (isLeaky ? (block + 1) * 20 * leaked : 0)
                arm.figures[0].add(report, as: .timed(process: block), in: 0)
                arm.note(report)
                arm.noteRound()
            }
            return arm
        }
        return [try arm("curl", left), try arm("curl:loops=2", right), try arm("curl", left, isCopy: true)]
    }

    private static func result(
        of arms: [Arm], environment: [(name: String, value: String)], requests: [String] = ["a1b2c3"]
    ) throws -> ExperimentResult {
        let design = ExperimentDesign(
            requests: 160, concurrency: 4, warmUp: 0, weights: [1], timeout: 1, seed: 1, comparisons: 1)
        return ExperimentResult(
            arms, urls: ["http://h/"], requests: requests, design: design, command: "netlayer compare",
            environment: environment)
    }

    /// Half of the first transport's requests go over the copy.
    @Test func `a failure of the first arm's copy is a failure, and is in every report`() throws {
        let result = try Self.result("a", "a")
        #expect(!result.hasFailures && result.shownArms.count == 2)
        let ends: [(inout Arm) -> Void] = [
            { $0.figures[0].ended = "ended by signal 9 at request 7" },
            { arm in
                var (report, response) = (BlockReport(), RecordedResponse())
                (response.errorCode, response.errorText) = ("connectionLost", "the connection was lost")
                (report.requests, report.outcomes, report.new) = (1, [7: 1], [7: response])
                arm.figures[0].add(report, as: .timed(process: 0), in: 0)
            },
        ]
        for (end, words) in zip(ends, ["ended by signal 9", "connectionLost"]) {
            var copy = result.copy
            end(&copy)
            let failed = try Self.result(of: result.arms + [copy], environment: [])
            #expect(failed.hasFailures && failed.shownArms.map(\.name).last == "curl again")
            #expect(try ComparisonOptions.parse([]).failure(of: failed) == "")
            for report in [
                ComparisonText(failed).lines.joined(separator: "\n"),
                ComparisonPage(failed).text, ComparisonJUnit(failed, rules: [], alarm: .nothing).text,
                String(decoding: ComparisonJSON(failed).value.line, as: UTF8.self),
            ] {
                #expect(report.contains("curl again"))
                #expect(report.contains(words) || report.contains("connection was lost"))
            }
        }
    }

    /// Regression: any URL with 'http://' in its path counted as one without TLS.
    @Test(arguments: [
        ("https://h/web/http://i/", true), ("POST https://h/?u=http://i/", true), ("http://h/", false),
        ("POST http://h/", false), ("HTTP://h/", false),
    ])
    func `names in lower case are known where TLS may choose the version`(url: String, isKnown: Bool) throws {
        func response(_ name: String) -> RecordedResponse {
            var response = RecordedResponse()
            (response.status, response.fields) = (200, [.init(name, "1")])
            return response
        }
        let changed = try [("X-A", false), ("x-a", false), ("X-A", true)].map { name, isCopy in
            var arm = try Arm(ArmSpecification("curl"), urls: 1, isCopy: isCopy)
            var report = BlockReport()
            (report.requests, report.outcomes, report.new) = (100, [0: 100], [0: response(name)])
            arm.figures[0].add(report, as: .timed(process: 0), in: 0)
            return arm
        }
        let design = ExperimentDesign(
            requests: 160, concurrency: 4, warmUp: 0, weights: [1], timeout: 1, seed: 1, comparisons: 1)
        let result = ExperimentResult(changed, urls: [url], design: design, command: "", environment: [])
        let difference = try #require(result.urls[0].contents[0].differences.first { $0.place == "fieldCase" })
        #expect((difference.known?.name == "lowercaseNames") == isKnown)
    }

    /// Regression: the verdicts on a baseline had a chance of an error of their own.
    @Test func `the verdicts on a baseline share the chance of an error with the others`() async throws {
        let folder = try TestFolder()
        let path = folder.path("before.json")
        try Data(ComparisonJSON(try Self.result("a", "a")).value.line).write(to: URL(filePath: path))
        let baseline = try await Baseline(path: path)
        let (arms, requests) = (["curl", "curl:loops=2", "curl:http=2"], ["a1b2c3", "other"])
        #expect(baseline.comparisons(arms: arms, requests: requests) == 2)
        #expect(baseline.comparisons(arms: ["none"], requests: requests) == 0)
        let command = try CompareCommand.parse(["http://h/", "http://i/", "--arm", "curl", "--arm", "curl:loops=2"])
        #expect(command.design(weights: [1, 1], known: 4).comparisons == 6)
    }

    @Test func `a new difference is a failure, and is in every report`() throws {
        let result = try Self.result("<b>one\u{1B}[2J|", "<b>two\u{1B}[2J|")
        var options = try ComparisonOptions.parse([])
        #expect(options.failure(of: result) == "")
        options.failOn = .nothing
        #expect(options.failure(of: result) == nil)
        let (text, page) = (ComparisonText(result).lines.joined(separator: "\n"), ComparisonPage(result).text)
        #expect(text.contains("  differs (new): field:x-b: '<b>one"))
        #expect(page.contains("&lt;b&gt;one") && !page.contains("<b>") && !page.contains("<script"))
        let junit = ComparisonJUnit(result, rules: [], alarm: .newDifferences).text
        #expect(junit.contains(#"tests="10" failures="1""#) && junit.contains("&lt;b&gt;one"))
        let json = String(decoding: ComparisonJSON(result).value.line, as: UTF8.self)
        #expect(json.contains(#""where":"field:x-b""#))
        for text in [text, page, junit, json] { #expect(!text.contains("\u{1B}")) }
        #expect(
            ComparisonText(try Self.result("a", "a")).lines.contains("  responses: no differences over curl:loops=2"))
    }

    /// A server that limits connections may refuse one of two equal arms.
    @Test func `nothing is said of responses where two copies of the first arm have other statuses`() throws {
        let equal = try Self.result("a", "a")
        var copy = Arm(try ArmSpecification("curl"), urls: 1, isCopy: true)
        var (report, response) = (BlockReport(), RecordedResponse())
        response.status = 503
        (report.requests, report.outcomes, report.new) = (160, [0: 160], [0: response])
        copy.figures[0].add(report, as: .timed(process: 0), in: 0)
        let result = ExperimentResult(
            equal.arms + [copy], urls: ["http://h/"], design: equal.design, command: "", environment: [])
        let text = ComparisonText(result).lines.joined(separator: "\n")
        #expect(text.contains("nothing to say of curl:loops=2") && !text.contains("no differences"))
        #expect(text.contains("status is another one for the copy of the first arm, in 100 %"))
        #expect(ComparisonPage(result).text.contains("nothing can be said of the responses"))
        let failure = #"<failure message="responses: nothing to say of curl:loops=2"#
        #expect(ComparisonJUnit(result, rules: [], alarm: .newDifferences).text.contains(failure))
        #expect(!ComparisonJUnit(result, rules: [], alarm: .nothing).text.contains(failure))
        #expect(try ComparisonOptions.parse([]).failure(of: result) == "")
        #expect(try ComparisonOptions.parse([]).failure(of: equal) == nil)
    }

    @Test func `the number of differences that are not listed is in JUnit`() throws {
        var result = try Self.result("a", "a")
        var (report, response) = (BlockReport(), RecordedResponse())
        response.status = 200
        response.fields = (0..<300).map { .init("X-\($0)", "1") }
        (report.requests, report.outcomes, report.new) = (200, [7: 200], [7: response])
        result.arms[1].figures[0].add(report, as: .timed(process: 0), in: 0)
        result = ExperimentResult(
            result.arms + [result.copy], urls: ["http://h/"], design: result.design, command: "", environment: [])
        let unlisted = result.urls[0].contents[0].unlisted
        let rest = "<skipped message=\"\(unlisted.new) more new differences\"/>"
        let text = ComparisonJUnit(result, rules: [], alarm: .newDifferences).text
        #expect(unlisted.new > 0 && text.contains(rest))
    }

    @Test func `what there was no room to compare is in every report`() throws {
        var result = try Self.result("a", "a")
        var report = BlockReport()
        // A response that was not kept, and one with more fields than there is room for.
        (report.requests, report.outcomes, report.new) = (2, [-1: 1, 7: 1], [7: RecordedResponse()])
        report.new[7]?.status = 200
        report.new[7]?.fields = (0..<20_010).map { .init("X-\($0)", "1") }
        result.copy.figures[0].add(report, as: .timed(process: 0), in: 0)
        result = ExperimentResult(
            result.arms + [result.copy], urls: ["http://h/"], design: result.design, command: "", environment: [])
        let text = ComparisonText(result).lines.joined(separator: "\n")
        #expect(text.contains("responses: no differences over curl:loops=2 in what was compared"))
        let json = String(decoding: ComparisonJSON(result).value.line, as: UTF8.self)
        #expect(json.contains(#""notCompared":1,"partsNotCompared":14,"#))
        let page = ComparisonPage(result).text
        #expect(page.contains("What was compared does not differ."))
        for report in [
            text, page,
            ComparisonJUnit(result, rules: [], alarm: .differences).text,
        ] {
            #expect(report.contains("curl again: no room to compare 1 of its responses"))
            #expect(report.contains("curl again: no room to compare 14 parts of its responses"))
        }
    }

    @Test func `a result is compared with an earlier one`() async throws {
        let folder = try TestFolder()
        defer { folder.remove() }
        let path = folder.path("before.json")
        let text = String(decoding: ComparisonJSON(try Self.result("a", "a")).value.line, as: UTF8.self)
        try text.write(toFile: path, atomically: true, encoding: .utf8)
        let baseline = try await Baseline(path: path)
        var same = try Self.result("a", "a")
        same.compare(with: baseline)
        #expect(same.changes.count == 10 && same.changes.allSatisfy { !$0.isDecided } && same.warnings.isEmpty)
        // Shown alike, but with another query or body.
        var other = try Self.result(of: same.arms + [same.copy], environment: [("cores", "2")], requests: ["d4e5f6"])
        other.compare(with: baseline)
        #expect(other.changes.isEmpty && other.warnings == ["the baseline has no such request: http://h/"])
        let slow = try Self.result("a", "a", slowness: 2, environment: [("cores", "4")])
        for arms in [slow.arms, [slow.arms[0]]] {
            var slower = try Self.result(of: arms + [slow.copy], environment: slow.environment)
            slower.compare(with: baseline)
            #expect(slower.changes.count == 5 * arms.count)
            try Self.checkIsSlower(slower, than: same)
        }
        // Regression: equal arms in blocks of another size differed beyond doubt, and nothing was said.
        let large = text.replacing("\"requests\":20", with: "\"requests\":31")
        try large.write(toFile: path, atomically: true, encoding: .utf8)
        same.compare(with: try await Baseline(path: path))
        #expect(
            same.warnings.first == "the baseline differs in the blocks of curl: '31 requests' then, '20 requests' now")
        #expect(same.changes.count == 10 && same.changes.allSatisfy { $0.interval == nil })
        #expect(same.changes[0].text == "median: no verdict, since the blocks had another size")
        let rules = try ComparisonOptions.parse(["--fail-if", "p50 > +500%"])
        #expect(rules.failure(of: same)?.contains("could not be judged: median: no verdict") == true)
        let unjudged = ComparisonJUnit(same, rules: rules.failIf, alarm: .nothing).text
        #expect(unjudged.contains(#"<failure message="median: no verdict, since the blocks had another size"/>"#))
        #expect(unjudged.contains(#"<skipped message="CPU: no verdict, since the blocks had another size"/>"#))
        try "{}".write(toFile: path, atomically: true, encoding: .utf8)
        await #expect(throws: ToolFailure.self) { try await Baseline(path: path) }
    }

    private static func checkIsSlower(_ slower: ExperimentResult, than same: ExperimentResult) throws {
        let median = try #require(slower.changes.first)
        #expect(median.isDecided && median.text.hasPrefix("median: the baseline is 2.0 times as fast as curl"))
        #expect(slower.warnings == ["the baseline differs in cores: '2' then, '4' now"])
        let options = try ComparisonOptions.parse(["--fail-if", "p50 > +50%"])
        let rule = "--fail-if: 'p50 > +50%': "
        #expect(options.failure(of: slower)?.hasPrefix("\(rule)median: the baseline is 2.0 times") == true)
        #expect(options.failure(of: same) == nil)
        for report in [
            ComparisonText(slower).lines.joined(), ComparisonPage(slower).text,
            ComparisonJUnit(slower, rules: options.failIf, alarm: .nothing).text,
            String(decoding: ComparisonJSON(slower).value.line, as: UTF8.self),
        ] {
            #expect(report.contains("the baseline is 2.0 times as fast as curl"))
        }
    }

    @Test func `a process that keeps something of each request is a failure by a rule, and is in every report`() throws
    {
        let result = try Self.result("a", "a", leaking: 20_000)
        let options = try ComparisonOptions.parse(["--fail-if", "memory > 10kB"])
        let words = "memory: curl:loops=2 grows by 20 kB a request more than curl"
        #expect(options.failure(of: result)?.hasPrefix("--fail-if: 'memory > 10kB': \(words)") == true)
        #expect(options.failure(of: try Self.result("a", "a")) == nil)
        #expect(try ComparisonOptions.parse(["--fail-if", "memory > 1MB"]).failure(of: result) == nil)
        let junit = ComparisonJUnit(result, rules: options.failIf, alarm: .nothing).text
        #expect(junit.contains(#"failures="1""#))
        var unseen = result
        unseen.growths = []
        #expect(options.failure(of: unseen)?.contains("could not be judged: what processes keep") == true)
        #expect(ComparisonJUnit(unseen, rules: options.failIf, alarm: .nothing).text.contains(#"failures="1""#))
        let json = String(decoding: ComparisonJSON(result).value.line, as: UTF8.self)
        #expect(json.contains(#""resource":"memory""#) && json.contains(#""decided":true"#))
        for report in [
            ComparisonText(result).lines.joined(), ComparisonPage(result).text, junit,
            json,
        ] {
            #expect(report.contains(words))
        }
        #expect(ComparisonPage(result).text.contains("curl: 50 MB at the end; curl:loops=2: 53.2 MB at the end"))
    }

    @Test func `charts say in words what they show, without anything to show too`() throws {
        var result = try Self.result("a", "a")
        #expect(
            ComparisonPage(result).text.contains(
                "curl: half within 2.3 ms, 99 % within 3.5 ms; curl:loops=2: half within "))
        for index in result.arms.indices { result.arms[index].figures = [ArmFigures()] }
        #expect(ComparisonPage(result).text.contains("nothing was measured"))
        #expect(Chart.number(.nan) == "0" && Chart.number(1234.5) == "1234" && Chart.number(0.0123) == "0.012")
    }

    @Test func `the live figures are those of the latest blocks, with an arm's end`() throws {
        var arms = try Self.arms("a", "a", slowness: 1, leaking: 0)
        arms[1].figures[0].ended = "ended by signal 9 at request 3"
        let figures = LiveFigures(Array(arms.prefix(2)), drawn: 30, latest: 5)
        #expect(
            figures.lines == [
                "arm              p50     p95  req/s  CPU/req  memory  errors  median, round by round",
                "curl          2.4 ms  3.4 ms  200/s   200 µs   50 MB       0  ▆▇▇▇████",
                "curl:loops=2  2.4 ms  3.4 ms  200/s   200 µs   50 MB       0  ended by signal 9 at request 3",
            ])
        #expect(
            figures.line(round: 8, of: 30)
                == "round 8 of 30: curl 2.4 ms, 200/s; curl:loops=2 ended by signal 9 at request 3")
        #expect(LiveFigures.drawing([1, .nan, 8], highest: 8) == "▂ █" && LiveFigures.drawing([1], highest: 0) == " ")
        #expect(
            ComparisonMeter.head("http://h/", done: 0.5, after: .seconds(4)) == [
                "http://h/", "━━━━━━━━━━━━━━━┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄ 50 %, 4.0 s, some 4.0 s left",
            ])
    }
}
