import ArgumentParser
import Foundation
import JSONText
import NetworkComparison
import NetworkLayer
import NetworkTesting
import Testing
import ToolSupport

@testable import netlayer

@Suite("netlayer compare", .patience(minutes: 2)) struct CompareTests {
    private let folder = TestFolder()

    @Test func `both transports are arms, with figures of their own`() async throws {
        let server = try ScriptedServer(.ok("hello"))
        let (report, run) = try await ToolRun.compare(server.url("/?secret=1"), "-n", "100", "-H", "X-Secret: canary")
        #expect(run.status == 0, "\(run.errors)")
        #expect(report.arms.map(\.name) == ["curl", "urlsession"])
        for arm in report.arms {
            #expect(arm.requests == 100 && arm.errors.isEmpty && arm.ended == nil)
            #expect(arm.p50Ms ?? 0 > 0 && arm.cpuMicrosecondsPerRequest ?? 0 > 0 && arm.coldMs ?? 0 > 0)
            #expect(arm.histogram.reduce(0) { $0 + $1[1] } == 100)
        }
        // Each of six processes has four at most; on a busy machine, three of them may be fast enough for all requests.
        #expect(6...24 ~= report.arms[0].connections ?? 0)
        #expect(report.verdicts.map(\.metric) == [.p50, .p95, .p99, .rate, .cpu, .cold, .attempts])
        #expect(report.differences.isEmpty)
        // A percentile of so few requests has none.
        #expect(Set(report.noise.keys) == [.attempts, .cold, .connections, .cpu, .p50, .p95, .rate])
        // The request goes out as described, and the report does not give it away.
        #expect(server.requests.allSatisfy { $0.values(of: "X-Secret") == ["canary"] })
        for secret in ["canary", "secret=1"] { #expect(!run.text.contains(secret)) }
    }

    @Test func `lines and curl commands are requests, each with verdicts of its own`() async throws {
        let server = try ScriptedServer(.ok("hello"))
        let url = server.url("/")
        let post = #"{"url":"\#(url)a","method":"POST","bodyBase64":"eA==","headers":[["X-Line","1"]]}"#
        let lines = try folder.write("\(post)\n\n{\"url\":\"\(url)b\"}\n\(post)\n", to: "lines")
        let (report, run) = try await ToolRun.compare(
            "\(url)a", "--input", lines, "--from-curl",
            "curl '\(url)c' -s -H 'X-Secret: canary' --compressed --data-raw $'it\\'s\\n'", "-n", "16", "--warm-up", "0"
        )
        #expect(run.status == 0, "\(run.errors)")
        #expect(
            report.verdicts.filter { $0.metric == .p50 }.map(\.url)
                == ["\(url)a", "POST \(url)c", "POST \(url)a", "\(url)b"])
        let requests = server.requests
        #expect(requests.contains { $0.target == "/c" && $0.body == Data("it's\n".utf8) })
        // A line that is there twice gets twice as many requests; each of three arms sends one more, which is cold.
        #expect(requests.count { $0.target == "/a" && $0.method == "POST" && $0.values(of: "X-Line") == ["1"] } == 99)
        #expect(requests.count { $0.target == "/b" } == 51)
        #expect(!run.text.contains("canary"))
    }

    @Test func `requests are shown as they are sent, without their secrets`() async throws {
        let server = try ScriptedServer(.ok("hello"))
        let page = folder.path("page.html")
        let run = try await ToolRun(
            [
                "compare", server.url("/a?key=canary"), "-n", "8", "--warm-up", "0", "--wire", "-H",
                "X-Api-Key: canary",
                "-H", "x-LOWER: 1", "-d", "x=1", "--html", page,
            ], status: 0)
        let text = run.text
        // Below libcurl 7.80 a POST request has a connection of its own.
        for line in [
            "  sent over curl, ", "      POST /a?… HTTP/1.1", "      X-Api-Key: …", "      x-LOWER: 1",
            "      (3 bytes, fingerprint ", "  sent over urlsession, ", "    ≠ X-Lower: 1",
        ] {
            #expect(text.contains(line), "\(line): \(text)")
        }
        #expect(!text.contains("canary"))
        let html = try folder.read("page.html")
        #expect(html.contains("<mark>X-Lower: 1</mark>") && !html.contains("canary"))
    }

    /// A response with trailers ends a process that uses URLSession.
    @Test func `an arm that crashes is a result`() async throws {
        let trailers = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\nX-A: b\r\n\r\n"
        let server = try ScriptedServer([.forEachRequest([.send(trailers)])])
        let (report, run) = try await ToolRun.compare(server.url(), "-n", "20")
        #expect(run.status == 1)
        let ended = try #require(report.arms[1].ended)
        #expect(ended.hasPrefix("ended by signal ") && ended.contains(" at request 1"))
        #expect(ended.contains("'netlayer fetch --transport urlsession http://127.0.0.1:"))
        #expect(report.arms[0].requests == 20 && report.arms[0].errors.isEmpty)
        #expect(report.verdicts.first?.text == "median: not measured")
    }

    @Test func `a program runs under each arm's environment`() async throws {
        let (report, run) = try await ToolRun.compare("--exec", "echo $NETWORK_TRANSPORT secret; exit 3", "-n", "6")
        #expect(run.status == 1)
        #expect(report.arms.map(\.requests) == [6, 6] && report.arms.allSatisfy { $0.ended == nil })
        #expect(report.differences.map(\.where) == ["text:1/1"])
        #expect(report.verdicts.map(\.metric) == [.p50, .cpu] && !run.text.contains("secret"))
        // The end by a signal is a failure of that arm.
        let (crashed, _) = try await ToolRun.compare(
            "--exec", "test $NETWORK_TRANSPORT = curl || kill -9 $$", "-n", "5")
        #expect(crashed.arms.map(\.errors) == [[:], ["signal 9": 5]])
        // Regression: a program that a shell started and a signal ended counted as a success.
        let (inner, _) = try await ToolRun.compare("--exec", "sh -c 'kill -9 $$'; exit $?", "-n", "2")
        #expect(inner.arms.map(\.errors) == [["signal 9": 2], ["signal 9": 2]])
        // A shell's status for a program that it does not find.
        // Regression: the program inherited that the tool ignores these signals.
        for (name, number) in [("PIPE", 13), ("INT", 2), ("TERM", 15), ("HUP", 1)] {
            let (ended, _) = try await ToolRun.compare("--exec", "kill -\(name) $$; true", "-n", "1")
            #expect(ended.arms.map(\.errors) == [["signal \(number)": 1], ["signal \(number)": 1]])
        }
        let (missing, failed) = try await ToolRun.compare("--exec", "./nonexistent", "-n", "1")
        #expect(missing.arms.map(\.errors) == [["status 127": 1], ["status 127": 1]] && failed.status == 1)
        let (late, _) = try await ToolRun.compare("--exec", "exec sleep 60", "-n", "1", "--timeout", "0.2")
        #expect(late.arms.map(\.errors) == [["totalTimeout": 1], ["totalTimeout": 1]])
    }

    @Test func `a program's time ends with it, whatever it leaves behind`() async throws {
        // The first one belongs to the program's group, the other one has left it.
        for background in ["(sleep 30; true) &", "setsid sleep 30 &"] {
            let (report, _) = try await ToolRun.compare("--exec", "\(background) echo hi", "-n", "1", "--timeout", "20")
            #expect(report.arms.allSatisfy { $0.errors.isEmpty && $0.p50Ms ?? 20_000 < 15_000 })
        }
    }

    @Test func `a line's own timeout counts, and what is bound to an origin goes to the wire`() async throws {
        let server = try ScriptedServer(.ok("hello"))
        let (_, run) = try await ToolRun.compare(
            server.url("/"), "-n", "8", "--warm-up", "0", "--wire", "--bearer", "T0KEN")
        #expect(run.text.contains("Authorization: ") && !run.text.contains("T0KEN"))
        let silent = try ScriptedServer([.read, .stall])
        let path = try folder.write(#"{"url":"\#(silent.url("/"))","options":{"timeoutMs":100}}"#, to: "lines")
        let (late, _) = try await ToolRun.compare("--input", path, "-n", "2", "--warm-up", "0", "-c", "1")
        #expect(late.arms.allSatisfy { $0.errors["totalTimeout"] == 2 })
    }

    @Test func `known differences are no failure unless that is asked for`() async throws {
        let server = try ScriptedServer(.ok("{}", fields: [("X-A", "1"), ("X-A", "2")]))
        let (report, run) = try await ToolRun.compare(server.url(), "-n", "20")
        #expect(run.status == 0)
        #expect(report.differences.map(\.where).contains("field:x-a"))
        #expect(report.differences.allSatisfy { $0.known == "fieldOrder" && $0.share == 1 })
        let (_, strict) = try await ToolRun.compare(server.url(), "-n", "20", "--fail-on", "differences")
        #expect(strict.status == 1)
    }

    @Test func `an arm has the name that it is given`() async throws {
        let server = try ScriptedServer(.ok())
        let (report, run) = try await ToolRun.compare(
            server.url(), "-n", "8", "--warm-up", "0", "--arm", "curl:name=one", "--arm", "curl:loops=2,name=the other")
        #expect(run.status == 0 && report.arms.map(\.name) == ["one", "the other"])
        #expect(report.arms.map(\.arm) == ["curl:name=one", "curl:loops=2,name=the other"])
        let text = try await ToolRun([
            "compare", server.url(), "-n", "8", "--arm", "curl:name=one,loops=2", "--arm", "urlsession",
        ]).text
        #expect(text.hasPrefix("one: curl:loops=2, libcurl") && text.contains("\nurlsession: FoundationNetworking"))
    }

    @Test func `a response of one URL is compared at another one too`() async throws {
        let server = try ScriptedServer(.ok("hello"))
        let (report, run) = try await ToolRun.compare(server.url("/a"), server.url("/b"), "-n", "40")
        let figures = report.urls.flatMap(\.arms).map(\.summary)
        #expect(run.status == 0 && figures.count == 6, "\(run.errors)")
        #expect(figures.allSatisfy { $0.statuses == [200: 40] && $0.notCompared == 0 })
    }

    @Test func `a comparison has several processes, and the last one of each arm is watched`() throws {
        func design(_ words: String...) throws -> ExperimentDesign {
            try CompareCommand.parse(["http://h/"] + words).design(weights: [1])
        }
        let plain = try design()
        #expect((plain.rounds, plain.blockSize, plain.timedRounds, plain.processes) == (45, 20, 30, 10))
        let short = try design("-n", "100")
        #expect((short.rounds, short.watchedRounds, short.processes) == (6, 0, 6))
        let few = try design("--processes", "3")
        #expect((few.timedRounds, few.processes) == (30, 3))
        #expect(try CompareCommand.parse(["--exec", "true"]).design(weights: [1]).processes == 20)
    }

    @Test func `the interval of a rate is no hang`() throws {
        let words = ["http://h/", "-n", "5", "--rate", "0.05", "--timeout", "1"]
        let schedule = OpenSchedule(rate: 0.05, arms: 3, arm: 1, seed: 1, begin: .now)
        let order = BlockOrder(url: 0, requests: 5, concurrency: 1, starts: schedule)
        let patience = try CompareCommand.parse(words).design(weights: [1]).patience(for: order)
        #expect(schedule.longestGap(5) >= 20 && patience >= .seconds(schedule.longestGap(5) + 1))
    }

    /// Regression: an arm that hung was waited for by the sum of its requests' timeouts: up to 17 minutes.
    @Test func `an arm that begins no request is hung, and one that does is not, however long its block`() async throws
    {
        let number = try SharedNumber(path: folder.path("number"))
        // It grows thirty times as often as it is looked at.
        let isDone = try await growing({ number.value }, within: .seconds(3)) {
            for _ in 0..<40 {
                try await Task.sleep(for: .milliseconds(100))
                number.increase()
            }
            return true
        }
        #expect(isDone)
        await #expect(throws: NoGrowth.self) {
            try await growing({ number.value }, within: .seconds(1)) { try await Task.sleep(for: .seconds(60)) }
        }
    }

    /// A program that gives its standard error a terminal is part of each Debian.
    @Test func `a terminal shows the comparison as it runs, and what it showed is erased`() async throws {
        let server = try ScriptedServer(.ok("hello"))
        let command = "stty cols 60; \(ToolRun.tool.path) compare \(server.url("/")) -n 100 --seed 2 >/dev/null"
        let run = try await ToolRun(["-qec", command, "/dev/null"], of: "/usr/bin/script")
        // Each line takes the place of the last one, and the last one of all is gone.
        let lines = run.text.components(separatedBy: ProgressLine.wipe)
        #expect(run.status == 0 && lines.count > 2 && lines.last == "", "\(lines)")
        // The loader's words about another libcurl are none of the tool's.
        let own = lines.dropFirst().dropLast().filter { !$0.contains("no version information") }
        #expect(own.allSatisfy { $0.hasPrefix("round ") && $0.count < 60 }, "\(lines)")
        let plain = try await ToolRun(["compare", server.url("/"), "-n", "100"])
        #expect(plain.errors.split(separator: "\n").allSatisfy { $0.hasPrefix("round ") })
        #expect(!plain.text.contains("\u{1B}") && !plain.errors.contains("\u{1B}"))
    }

    @Test(
        arguments: [
            ["--arm", "curl"], ["--arm", "x", "--arm", "curl"], ["--arm", "curl:http=4", "--arm", "curl"],
            ["--arm", "curl:loops", "--arm", "curl"], ["--arm", "urlsession:http=2", "--arm", "curl"],
            ["--arm", "curl", "--arm", "curl"], ["--arm", "curl", "--arm", "urlsession:name=curl again"],
            ["--arm", "curl:name=", "--arm", "curl"], ["--arm", "curl:name=- x", "--arm", "curl"],
            ["--arm", "curl:name=a" + String(repeating: "\u{301}", count: 40), "--arm", "curl"],
            ["--arm", "curl:name=a\nb", "--arm", "curl"], ["--arm", "curl:name=a|b", "--arm", "curl"],
            ["--fail-if", "p95"], ["--fail-if", "p9 > 5%"],
            ["--fail-if", "memory > 5%"], ["--fail-if", "memory > 5"],
            ["--fail-if", "descriptors > 5kB"], ["--until", "0%"],
            ["--weight", "1", "--weight", "2"], ["--exec", "true"], ["-d", "@-"], ["--cookie-jar", "f"],
            ["--save", "f", "--html", "f"],
            ["--rate", "0"], ["--processes", "0"], ["--processes", "46"], ["--until", "5%", "--processes", "4"],
        ])
    func `wrong words are usage errors`(words: [String]) {
        #expect(throws: (any Error).self) { try CompareCommand.parse(["http://127.0.0.1/"] + words) }
    }

    @Test func `a rule is broken by a decided verdict beyond it`() throws {
        let rule = try FailureRule("p95 > +5%")
        func verdict(_ ratio: Double, noise: Double = 1.01) -> Verdict {
            Verdict(
                url: "u", metric: .p95, arms: ["a", "b"], ratio: ratio,
                interval: RatioInterval(ratio: ratio, low: ratio * 0.99, high: ratio * 1.01), noise: noise)
        }
        // The other arm takes 1 / 0.9 of the first one's time.
        #expect(rule.isBroken(by: verdict(0.9)))
        #expect(!rule.isBroken(by: verdict(0.9, noise: 1.5)))
        #expect(!rule.isBroken(by: verdict(0.97)))
        #expect(!rule.isBroken(by: verdict(1.2)))
        #expect(try FailureRule("p95<-10%").isBroken(by: verdict(1.2)))
        // A rule that asks for a gain: the interval of equal arms is beyond it, although it contains 1.
        let gain = try FailureRule("p95 > -50%")
        #expect(gain.isBroken(by: verdict(1)) && gain.isBroken(by: verdict(0.9)) && !gain.isBroken(by: verdict(3)))
        #expect(!gain.isBroken(by: verdict(1.5, noise: 1.5)))
        #expect(try FailureRule("rate < +50%").metric == .rate)
        #expect(try !rule.isBroken(by: verdict(1)) && !FailureRule("p95 < -5%").isBroken(by: verdict(1)))
    }

    @Test func `a command line is shown without its secrets`() {
        let shown = ComparisonEnvironment.shown([
            "compare", "http://u:p@h/a?b=secret", "-H", "X-A: secret", "--bearer=secret", "-u", "a:secret", "-n", "5",
            "--arm", "curl:http=2", "-d", "secret it's",
        ])
        #expect(!shown.contains("secret") && !shown.contains("u:p"))
        #expect(shown.contains("-n 5 --arm curl:http=2"))
    }

    /// Regression: digits are short options too, and `-4H` showed the field after it.
    @Test func `a value after any group of short options is hidden`() throws {
        for letter in "HduEUxbAe" {
            for group in ["", "L", "4", "0", "46L", "Li0"] {
                for words in [
                    ["-\(group)\(letter)", "canary"], ["-\(group)\(letter)=canary"], ["-\(group)\(letter)canary"],
                ] {
                    let shown = ComparisonEnvironment.shown(["compare"] + words)
                    #expect(!shown.contains("canary"), "\(words)")
                }
            }
        }
        #expect(
            ComparisonEnvironment.shown(["compare", "-n", "5", "-46", "-c", "8"]) == "netlayer compare -n 5 -46 -c 8")
    }

    @Test(arguments: [
        ([0.0, 0.1, 0.2, 0.3], 10.0, 0.4), ([0.05], 10, 0.1), ([0.3, 0.3, 0.3, 0.3], 10, 0.4), ([0, 2.9], 10, 3),
        ([], 10, 0),
    ])
    func `an open load takes an interval for each request, or until it has caught up`(
        _ ends: [Double], rate: Double, seconds: Double
    ) {
        let start = ContinuousClock.now
        let taken = ArmWorker.seconds(ofEnds: ends.map { start + .seconds($0) }, at: rate)
        #expect(abs(taken - seconds) < 1e-6)
    }

    @Test func `a block has what the transport reports of itself, since its beginning`() async throws {
        let server = try ScriptedServer(.ok("hello"))
        var configuration = CurlNetworkDispatcher.Configuration()
        configuration.maximumConnectionsPerOrigin = 1
        let dispatcher = CurlNetworkDispatcher(configuration: configuration)
        let worker = try ArmWorker.test(over: dispatcher, server.url("/"))
        let first = try #require(try await worker.run(BlockOrder(url: 0, requests: 8, concurrency: 4)).transport)
        #expect(first.opened == 1 && first.waited >= 3 && first.waitMs > 0, "\(first)")
        #expect(first.rounds > 0 && first.busyMs > 0 && first.longestRoundMs > 0, "\(first)")
        let second = try #require(try await worker.run(BlockOrder(url: 0, requests: 1, concurrency: 1)).transport)
        #expect(second.opened == 0 && second.waited == 0, "\(second)")
        let silent = try ArmWorker.test(over: URLSessionNetworkDispatcher.shared, server.url("/"))
        #expect(try await silent.run(BlockOrder(url: 0, requests: 1, concurrency: 1)).transport == nil)
        await dispatcher.shutDown(within: .zero)
    }

    /// Regression: two redirects that differ in their query were no difference.
    @Test func `a redirect is recorded with its query`() async throws {
        let stub = StubTransport()
        stub.when(.get("/"), .status(302, headerFields: [.location: "/b?x=1#y"]))
        stub.always(.any, .text("there"))
        let worker = try ArmWorker.test(over: stub)
        let report = try await worker.run(BlockOrder(url: 0, requests: 1, concurrency: 1))
        #expect(report.new[0]?.redirects == ["302 http://h/b?x=1"])
    }

    /// Regression: the proxy of the environment got the credentials of an https request, in clear.
    @Test(arguments: [["--bearer-env", "CANARY_TOKEN"], ["-u", "me:canary", "--proxy", ""]])
    func `the wire view goes past the environment's proxies`(_ words: [String]) async throws {
        let (server, proxy) = (try ScriptedServer(.ok("hello")), try ScriptedServer(.ok("proxied")))
        let variables = [
            "http_proxy": proxy.url(), "no_proxy": "localhost", "CANARY_TOKEN": "canary", "all_proxy": proxy.url(),
        ]
        let url = "http://localhost:\(server.port)/a"
        let arguments = ["compare", url, "-n", "4", "-c", "1", "--warm-up", "0", "--wire", "--arm", "curl"] + words
        let run = try await ToolRun(arguments + ["--arm", "curl:loops=1"], environment: variables)
        #expect(
            run.text.contains("  sent over curl, ") && run.text.contains("GET /a HTTP/1.1"), "\(run.text)\(run.errors)")
        #expect(proxy.requests.isEmpty && !run.text.contains("canary"))
    }

    @Test func `files are written even where standard output can't be`() async throws {
        let server = try ScriptedServer(.ok("hello"))
        let path = folder.path("saved.json")
        let tool = "'\(ToolRun.tool.path)' compare \(server.url()) -n 4 --save '\(path)' > /dev/full"
        _ = try await ToolRun(["-c", tool], of: "/bin/sh", status: 8)
        #expect(try JSONSerialization.jsonObject(with: Data(contentsOf: URL(filePath: path))) is [String: Any])
    }

    @Test func `a comparison at a rate keeps its time, warm-up included`() async throws {
        let server = try ScriptedServer(.ok("hello"))
        let begin = ContinuousClock.now
        let (report, run) = try await ToolRun.compare(
            server.url(), "--time", "4", "--rate", "5", "--warm-up", "5000", "--arm", "curl", "--arm",
            "curl:loops=1")
        // At the rate, the warm-up of one process alone would take a thousand seconds. The machine may be busy.
        #expect(ContinuousClock.now - begin < .seconds(100 * patienceFactor))
        #expect(run.status == 0 && !report.verdicts.contains { $0.metric == .rate }, "\(run.errors)")
    }

    @Test func `entries of a recording that are no requests are left out, and said`() async throws {
        let server = try ScriptedServer(.ok("hello"))
        func entry(_ url: String) -> String {
            #"{"startedDateTime":"2026-01-01T00:00:00Z","time":1,"request":{"method":"GET","url":"\#(url)","headers":[]},"#
                + #""response":{"status":200,"headers":[],"content":{}}}"#
        }
        let entries = ["wss://h/socket", server.url("/a"), "data:text/plain,x", "data:,y"].map(entry)
        let text =
            String(repeating: " ", count: 300)
            + #"{"log":{"version":"1.2","entries":[\#(entries.joined(separator: ","))]}}"#
        let file = folder.path("browser.har")
        try text.write(toFile: file, atomically: true, encoding: .utf8)
        let (report, run) = try await ToolRun.compare("--input", file, "-n", "8", "--warm-up", "0")
        #expect(report.arms.allSatisfy { $0.requests == 8 }, "\(run.errors)")
        #expect(run.errors.contains("entries are left out: 2 of data:, 1 of wss:"), "\(run.errors)")
    }

    @Test func `a baseline that has nothing of the comparison is refused before anything is sent`() async throws {
        let server = try ScriptedServer(.ok("hello"))
        let file = folder.path("run.json")
        _ = try await ToolRun(
            [
                "compare", server.url("/a"), "-n", "8", "--arm", "curl:name=x", "--arm", "curl", "--save", file,
            ], status: 0)
        let count = server.requests.count
        for words in [["--arm", "urlsession", server.url("/a")], ["--arm", "curl", server.url("/b")]] {
            let run = try await ToolRun(["compare", "-n", "8", "--baseline", file] + words)
            #expect(run.status == 2 && run.errors.contains("the baseline has none of these"), "\(run.errors)")
        }
        let programs = try await ToolRun(["compare", "--exec", "true x", "--arm", "curl", "--baseline", file])
        #expect(programs.status == 2 && server.requests.count == count)
        // A rule that could not be judged is no rule that holds.
        let run = try await ToolRun([
            "compare", server.url("/a"), "-n", "8", "--baseline", file, "--fail-if", "p50 > +500%",
        ])
        #expect(run.status == 1 && run.errors.contains("could not be judged: the baseline has no arm 'urlsession'"))
    }

    /// Regression: a block had no end but that of all its requests, a hundred seconds here.
    @Test func `arms that fail alike have no responses that are alike`() async throws {
        let port = try ClosedPort()
        defer { port.stop() }
        let (page, baseline) = (folder.path("page.html"), folder.path("run.json"))
        let url = "http://127.0.0.1:\(port.port)/"
        let run = try await ToolRun(["compare", url, "-n", "8", "--warm-up", "0", "--html", page, "--save", baseline])
        #expect(run.status == 1 && run.text.contains("responses: none over urlsession"))
        #expect(try String(contentsOfFile: page, encoding: .utf8).contains("responses: none over urlsession"))
        let alone = ["--arm", "curl", "--baseline", baseline, "--html", folder.path("alone.html")]
        _ = try await ToolRun(["compare", url, "-n", "8", "--warm-up", "0"] + alone)
        #expect(try !String(contentsOfFile: folder.path("alone.html"), encoding: .utf8).contains("not differ"))
    }
}

extension ArmWorker {
    /// A worker that sends one request.
    static func test(over transport: any HTTPTransport, _ url: String = "http://h/") throws -> ArmWorker {
        let request = SourceRequest(try TransportRequest(to: url)) { transport, _ in
            NetworkClient(transport: transport)
        }
        let folder = TestFolder()
        return try ArmWorker([request], over: transport, counter: try SharedNumber(path: folder.path("counter")))
    }
}
