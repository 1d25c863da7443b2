import ArgumentParser
import Foundation
import JSONText
import NetworkComparison
import Testing
import ToolSupport

@testable import netlayer

/// Comparisons that are made by hand, in every report.
@Suite("The reports of a comparison", .patience(minutes: 1)) struct ComparisonReportTests {
    /// Returns arms whose responses have a header field with a value each; the copy of the first one is the last.
    private static func arms(
        _ left: String, _ right: String, slowness: Double = 1, leaking leaked: Int = 0
    ) throws -> [Arm] {
        func arm(_ name: String, _ value: String, isCopy: Bool = false) throws -> Arm {
            var arm = Arm(try ArmSpecification(name), urls: 1, isCopy: isCopy)
            for block in 0..<8 {
                var (report, response) = (BlockReport(), RecordedResponse())
                (response.status, response.fields) = (200, [.init("X-B", value)])
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

    private static func report(
        of arms: [Arm], url: String = "http://h/", requests: [String] = ["a1b2c3"],
        environment: [String: String] = ["cores": "2"], baseline: Report? = nil
    ) -> Report {
        let design = ExperimentDesign(
            requests: 160, concurrency: 4, warmUp: 0, weights: [1], timeout: 1, seed: 1, comparisons: 1)
        return Report(
            arms, urls: [url], requests: requests, design: design, command: "netlayer compare",
            environment: environment, baseline: baseline)
    }

    private struct Texts {
        var text, page, junit, json: String
        var all: [String] { [text, page, junit, json] }

        init(_ report: Report, rules: [FailureRule] = [], alarm: DifferenceAlarm = .newDifferences) throws {
            text = ReportText(report).lines.joined(separator: "\n")
            page = ReportPage(report).text
            junit = ReportJUnit(report, rules: rules, alarm: alarm).text
            json = String(decoding: try report.json, as: UTF8.self)
        }
    }

    private static func failure(of report: Report, _ words: String...) throws -> String? {
        try ComparisonOptions.parse(words).failure(of: report)
    }

    /// Adds a block with one kind of response to an arm.
    private static func add(
        to arm: inout Arm, times: Int, as number: Int = 7, _ change: (inout RecordedResponse) -> Void
    ) {
        var (report, response) = (BlockReport(), RecordedResponse())
        response.status = 200
        change(&response)
        (report.requests, report.outcomes, report.new) = (times, [number: times], [number: response])
        arm.figures[0].add(report, as: .timed(process: 0), in: 0)
    }

    @Test func `what a transport reports of itself is in the text, the page and the JSON`() throws {
        var arms = try Self.arms("a", "a")
        #expect(try !Texts(Self.report(of: arms)).text.contains("event loop"))
        var figures = TransportFigures()
        (figures.opened, figures.closed, figures.waited, figures.waitMs) = (3, 1, 4, 10)
        (figures.rounds, figures.busyMs, figures.longestRoundMs) = (50, 20, 7)
        for _ in 0..<2 {
            var report = BlockReport()
            report.transport = figures
            arms[1].figures[0].add(report, as: .timed(process: 7), in: 0)
        }
        let texts = try Texts(Self.report(of: arms))
        let words = "curl:loops=2: 6 connections opened, 2 closed; 8 requests waited, 2.5 ms each; 100 rounds of the"
        #expect(texts.text.contains(words), "\(texts.text)")
        #expect(texts.page.contains(words) && texts.json.contains(#""longestRoundMs":7,"opened":6"#))
    }

    /// Half of the first transport's requests go over the copy.
    @Test(arguments: [true, false])
    func `a failure of the first arm's copy is a failure, and is in every report`(isEnd: Bool) throws {
        var arms = try Self.arms("a", "a")
        let sound = Self.report(of: arms)
        #expect(!sound.hasFailures && sound.shownArms.count == 2)
        if isEnd {
            arms[2].figures[0].ended = "ended by signal 9 at request 7"
        } else {
            Self.add(to: &arms[2], times: 1) {
                ($0.status, $0.errorCode, $0.errorText) = (nil, "connectionLost", "the connection was lost")
            }
        }
        let failed = Self.report(of: arms)
        #expect(failed.hasFailures && failed.shownArms.map(\.name).last == "curl again")
        #expect(try Self.failure(of: failed) == "")
        for text in try Texts(failed, alarm: .nothing).all {
            #expect(text.contains("curl again"))
            #expect(text.contains("ended by signal 9") || text.contains("connectionLost") || text.contains("was lost"))
        }
    }

    /// Regression: any URL with 'http://' in its path counted as one without TLS.
    @Test(arguments: [
        ("https://h/web/http://i/", true), ("POST https://h/?u=http://i/", true), ("http://h/", false),
        ("POST http://h/", false), ("HTTP://h/", false),
    ])
    func `names in lower case are known where TLS may choose the version`(url: String, isKnown: Bool) throws {
        let arms = try [("X-A", false), ("x-a", false), ("X-A", true)].map { name, isCopy in
            var arm = try Arm(ArmSpecification("curl"), urls: 1, isCopy: isCopy)
            Self.add(to: &arm, times: 100, as: 0) { $0.fields = [.init(name, "1")] }
            return arm
        }
        let difference = try #require(Self.report(of: arms, url: url).differences.first { $0.where == "fieldCase" })
        #expect((difference.known == "lowercaseNames") == isKnown)
    }

    /// Regression: the verdicts on a baseline had a chance of an error of their own.
    @Test func `the verdicts on a baseline share the chance of an error with the others`() throws {
        let baseline = Self.report(of: try Self.arms("a", "a"))
        let (arms, requests) = (["curl", "curl:loops=2", "curl:http=2"], ["a1b2c3", "other"])
        #expect(baseline.comparisons(arms: arms, requests: requests) == 2)
        #expect(baseline.comparisons(arms: ["none"], requests: requests) == 0)
        let command = try CompareCommand.parse(["http://h/", "http://i/", "--arm", "curl", "--arm", "curl:loops=2"])
        #expect(command.design(weights: [1, 1], known: 4).comparisons == 6)
    }

    @Test func `a new difference is a failure, and is in every report`() throws {
        let report = Self.report(of: try Self.arms("<b>one\u{1B}[2J|", "<b>two\u{1B}[2J|"))
        #expect(try Self.failure(of: report) == "")
        #expect(try Self.failure(of: report, "--fail-on", "nothing") == nil)
        let texts = try Texts(report)
        #expect(texts.text.contains("  differs (new): field:x-b: '<b>one"))
        #expect(texts.page.contains("&lt;b&gt;one") && !texts.page.contains("<b>") && !texts.page.contains("<script"))
        #expect(texts.junit.contains(#"tests="10" failures="1""#) && texts.junit.contains("&lt;b&gt;one"))
        #expect(texts.json.contains(#""where":"field:x-b""#))
        for text in texts.all { #expect(!text.contains("\u{1B}")) }
        let equal = try Texts(Self.report(of: try Self.arms("a", "a")))
        #expect(equal.text.contains("\n  responses: no differences over curl:loops=2\n"))
    }

    /// A server that limits connections may refuse one of two equal arms.
    @Test func `nothing is said of responses where two copies of the first arm have other statuses`() throws {
        var arms = try Self.arms("a", "a")
        #expect(try Self.failure(of: Self.report(of: arms)) == nil)
        arms[2] = Arm(try ArmSpecification("curl"), urls: 1, isCopy: true)
        Self.add(to: &arms[2], times: 160, as: 0) { $0.status = 503 }
        let report = Self.report(of: arms)
        let texts = try Texts(report)
        #expect(texts.text.contains("nothing to say of curl:loops=2") && !texts.text.contains("no differences"))
        #expect(texts.text.contains("status is another one for the copy of the first arm, in 100 %"))
        #expect(texts.page.contains("responses: nothing to say of curl:loops=2"))
        let failure = #"<failure message="responses: nothing to say of curl:loops=2"#
        #expect(texts.junit.contains(failure))
        #expect(try !Texts(report, alarm: .nothing).junit.contains(failure))
        #expect(try Self.failure(of: report) == "")
    }

    @Test func `the number of differences that are not listed is in JUnit`() throws {
        var arms = try Self.arms("a", "a")
        Self.add(to: &arms[1], times: 200) { $0.fields = (0..<300).map { .init("X-\($0)", "1") } }
        let report = Self.report(of: arms)
        let new = report.urls[0].responses[0].unlistedNew
        #expect(try new > 0 && Texts(report).junit.contains("<skipped message=\"\(new) more new differences\"/>"))
    }

    @Test func `what there was no room to compare is in every report`() throws {
        var arms = try Self.arms("a", "a")
        // A response that was not kept, and one with more fields than there is room for.
        Self.add(to: &arms[2], times: 1) { $0.fields = (0..<20_010).map { .init("X-\($0)", "1") } }
        var unknown = BlockReport()
        (unknown.requests, unknown.outcomes) = (1, [-1: 1])
        arms[2].figures[0].add(unknown, as: .timed(process: 0), in: 0)
        let report = Self.report(of: arms)
        #expect((report.copy.notCompared, report.copy.partsNotCompared) == (1, 14))
        let texts = try Texts(report, alarm: .differences)
        for text in [texts.text, texts.page] {
            #expect(text.contains("responses: no differences over curl:loops=2 in what was compared"))
        }
        for text in texts.all {
            #expect(text.contains("curl again: no room to compare 1 of its responses"))
            #expect(text.contains("curl again: no room to compare 14 parts of its responses"))
        }
    }

    @Test func `a comparison is compared with an earlier one`() async throws {
        let folder = TestFolder()
        let path = folder.path("before.json")
        func baseline(_ json: Data) async throws -> Report {
            try json.write(to: URL(filePath: path))
            return try await Report(path: path)
        }
        let arms = try Self.arms("a", "a")
        let json = try Self.report(of: arms).json
        let before = try await baseline(json)
        #expect(try before.json == json)
        let same = Self.report(of: arms, baseline: before)
        #expect(same.changes.count == 10 && same.changes.allSatisfy { !$0.decided } && same.warnings.isEmpty)
        // Shown alike, but with another query or body.
        let other = Self.report(of: arms, requests: ["d4e5f6"], baseline: before)
        #expect(other.changes.isEmpty && other.warnings == ["the baseline has no such request: http://h/"])
        let slow = try Self.arms("a", "a", slowness: 2)
        for arms in [slow, [slow[0], slow[2]]] {
            let slower = Self.report(of: arms, environment: ["cores": "4"], baseline: before)
            #expect(slower.changes.count == 5 * slower.arms.count)
            try Self.checkIsSlower(slower, than: same)
        }
        // Regression: equal arms in blocks of another size differed beyond doubt, and nothing was said.
        let large = String(decoding: json, as: UTF8.self).replacing("\"requests\":20,", with: "\"requests\":31,")
        let resized = Self.report(of: arms, baseline: try await baseline(Data(large.utf8)))
        #expect(
            resized.warnings.first
                == "the baseline differs in the blocks of curl: '31 requests' then, '20 requests' now")
        #expect(resized.changes.count == 10 && resized.changes.allSatisfy { $0.interval == nil })
        #expect(resized.changes[0].text == "median: no verdict, since the blocks had another size")
        let rules = try ComparisonOptions.parse(["--fail-if", "p50 > +500%"])
        #expect(rules.failure(of: resized)?.contains("could not be judged: median: no verdict") == true)
        let unjudged = try Texts(resized, rules: rules.failIf, alarm: .nothing).junit
        #expect(unjudged.contains(#"<failure message="median: no verdict, since the blocks had another size"/>"#))
        #expect(unjudged.contains(#"<skipped message="CPU: no verdict, since the blocks had another size"/>"#))
        await #expect(throws: ToolFailure.self) { try await baseline(Data("{}".utf8)) }
    }

    private static func checkIsSlower(_ slower: Report, than same: Report) throws {
        let median = try #require(slower.changes.first)
        #expect(median.decided && median.text.hasPrefix("median: the baseline is 2.0 times as fast as curl"))
        #expect(slower.warnings == ["the baseline differs in cores: '2' then, '4' now"])
        let options = try ComparisonOptions.parse(["--fail-if", "p50 > +50%"])
        let rule = "--fail-if: 'p50 > +50%': "
        #expect(options.failure(of: slower)?.hasPrefix("\(rule)median: the baseline is 2.0 times") == true)
        #expect(options.failure(of: same) == nil)
        for text in try Texts(slower, rules: options.failIf, alarm: .nothing).all {
            #expect(text.contains("the baseline is 2.0 times as fast as curl"))
        }
    }

    @Test func `a process that keeps something of each request is a failure by a rule, and is in every report`() throws
    {
        let report = Self.report(of: try Self.arms("a", "a", leaking: 20_000))
        let options = try ComparisonOptions.parse(["--fail-if", "memory > 10kB"])
        let words = "memory: curl:loops=2 grows by 20 kB a request more than curl"
        #expect(options.failure(of: report)?.hasPrefix("--fail-if: 'memory > 10kB': \(words)") == true)
        #expect(try Self.failure(of: report, "--fail-if", "memory > 1MB") == nil)
        let texts = try Texts(report, rules: options.failIf, alarm: .nothing)
        #expect(texts.junit.contains(#"failures="1""#))
        #expect(report.growth.first?.resource == .memory && report.growth.first?.decided == true)
        for text in texts.all { #expect(text.contains(words)) }
        #expect(texts.page.contains("curl: 50 MB at the end; curl:loops=2: 53.2 MB at the end"))
        var unseen = report
        unseen.growth = []
        #expect(options.failure(of: unseen)?.contains("could not be judged: what processes keep") == true)
        #expect(try Texts(unseen, rules: options.failIf, alarm: .nothing).junit.contains(#"failures="1""#))
    }

    @Test func `charts say in words what they show, without anything to show too`() throws {
        var arms = try Self.arms("a", "a")
        let words = "curl: half within 2.3 ms, 99 % within 3.5 ms; curl:loops=2: half within "
        #expect(try Texts(Self.report(of: arms)).page.contains(words))
        for index in arms.indices { arms[index].figures = [ArmFigures()] }
        #expect(try Texts(Self.report(of: arms)).page.contains("nothing was measured"))
        #expect(Chart.number(.nan) == "0" && Chart.number(1234.5) == "1234" && Chart.number(0.0123) == "0.012")
    }

    @Test func `the progress has the time that is left, and the latest figures or an arm's end`() throws {
        var arms = try Self.arms("a", "a")
        arms[1].figures[0].ended = "ended by signal 9 at request 3"
        let design = try CompareCommand.parse(["http://h/"]).design(weights: [1])
        func text(_ rounds: Int, _ seconds: Int) -> String {
            ProgressLine.text(arms, rounds: rounds, of: design, after: .seconds(seconds))
        }
        let figures = "curl 2.4 ms, 200/s; curl:loops=2 ended by signal 9 at request 3"
        #expect(text(9, 4) == "round 10 of 45, some 16.0 s left: \(figures)")
        #expect(text(0, 1) == "round 1 of 45: \(figures)")
    }
}
