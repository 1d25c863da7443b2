import Foundation
import JSONText
import NetworkComparison
import NetworkLayer
import NetworkTesting
import Testing
import ToolSupport

@testable import netlayer

/// The tool prints what its options request. Its other output, about requests and failures, contains no secret.
@Suite("The canary in the tool", .patience(minutes: 5)) struct CanaryToolTests {
    /// Does not block: the thread is one of the few that all tests share.
    private static func output(of arguments: [String]) async throws -> String {
        let run = try await ToolRun(arguments)
        return run.text + run.errors
    }

    private static func check(_ text: String, _ secret: CanarySecret, _ what: String) {
        #expect(!text.isEmpty)
        let forms = secret.forms(in: text)
        #expect(forms.isEmpty, "\(secret.kind): \(what) shows \(forms): \(text.prefix(400))")
        #expect(!text.unicodeScalars.contains { $0 != "\n" && $0 != "\t" && $0.isInvisible }, "\(what)")
    }

    @Test(arguments: CanarySecret.all)
    func `neither a redacted curl command nor a failure shows a secret`(secret: CanarySecret) async throws {
        // Nothing listens on this port.
        let closed = try ClosedPort()
        defer { closed.stop() }
        let base = "http://127.0.0.1:\(closed.port)"
        let url = "\(base)/p?key=\(secret.percentEncoded)#\(secret.percentEncoded)"
        let fields = [
            "-H", "X-Auth-Key: \(secret.value)", "-H",
            "Referer: https://u:\(secret.percentEncoded)@h/?x=\(secret.percentEncoded)",
            "-H", "Cookie: \(secret.value)", "--data-raw", secret.value,
        ]
        let digest = ["--user", "u:\(secret.value)", "--digest", "--transport", "curl"]
        Self.check(try await Self.output(of: ["fetch", "--curl"] + fields + digest + [url]), secret, "--curl")
        Self.check(try await Self.output(of: ["fetch"] + fields + digest + [url]), secret, "a refused connection")
        Self.check(
            try await Self.output(of: [
                "fetch", "http://u:\(secret.value)@127.0.0.1:\(closed.port)/?k=\(secret.percentEncoded)",
            ]), secret,
            "a password in the URL")
        Self.check(
            try await Self.output(of: [
                "fetch", "--transport", "curl", "-x", "http://u:\(secret.value)@127.0.0.1:\(closed.port)", url,
            ]),
            secret, "a password in the proxy's URL")
        Self.check(try await Self.output(of: ["compare", "-n", "1", url]), secret, "compare")
    }

    /// libcurl quotes the variable as written, blanks included.
    @Test(arguments: [
        "user:hunter2#x@proxy.invalid:1", "user:first hunter2@proxy.invalid", "hunter2@proxy.invalid:x",
        "http://user:first hunter2@proxy.invalid", "http://user:correct hunter2 battery staple@127.0.0.1:9",
        "http://user:4711 8015 hunter2@127.0.0.1:9", "http://user:12345678#hunter2@127.0.0.1:9",
        "http://user:hunter2/4711?@127.0.0.1:9", "http://user:4711 'hunter2'@127.0.0.1:9",
        "http://user:4711 hunter2\(String(repeating: " staple", count: 80))@127.0.0.1:9",
    ])
    func `no error shows the password of the environment's proxy`(proxy: String) async throws {
        let environment = ["http_proxy": proxy, "no_proxy": "", "NO_PROXY": ""]
        let arguments = ["fetch", "--transport", "curl", "--timeout", "20", "--as-json", "http://a.invalid/"]
        let run = try await ToolRun(arguments, environment: environment)
        #expect(run.status != 0 && !run.errors.isEmpty)
        for secret in ["hunter2", "4711", "8015", "first", "correct", "12345678", "staple"] {
            #expect(!run.errors.contains(secret) && !run.text.contains(secret), "\(run.errors)")
        }
    }

    @Test(arguments: CanarySecret.all)
    func `the error for a refused line does not show the line's secrets`(secret: CanarySecret) async throws {
        func quoted(_ text: String) -> String { String(decoding: JSONValue.string(text).line, as: UTF8.self) }
        let text = quoted(secret.value)
        let url = quoted("http://u:\(secret.value)@h/?k=\(secret.value)")
        let lines: [String] = [
            "{\"url\":\(url)}",
            "{\"url\":\"http://h/?k=1\",\"headers\":[[\(quoted("X-Api-Key: " + secret.value)),\"\"]]}",
            "{\"url\":\"http://h/\",\"options\":{\"auth\":{\"scheme\":\"basic\",\"password\":\(text)},\"x\":1}}",
            "{\"url\":\"http://h/\",\"options\":{\"proxy\":{\"url\":\(url)}}}",
            "{\"url\":\"http://h/\",\"bodyBase64\":\(text)}",
            "{\"url\":\"http://h/\",\"options\":{\"initialCookies\":[{\"name\":\"\",\"domain\":\"h\",\"value\":\(text)}]}}",
        ]
        for (number, line) in lines.enumerated() {
            Self.check(await Replay(over: StubTransport()).outcome(of: line).text, secret, "line \(number + 1)")
        }
    }

    @Test(arguments: CanarySecret.all)
    func `a comparison reports that secret fields differ, but not how`(secret: CanarySecret) throws {
        func arm(_ name: String, _ value: String, isCopy: Bool = false) throws -> Arm {
            var arm = Arm(try ArmSpecification(name), urls: 1, isCopy: isCopy)
            var (report, response) = (BlockReport(), RecordedResponse())
            response.status = 200
            response.fields = [.init("Set-Cookie", value), .init("Location", "http://u:\(value)@h/?k=\(value)")]
            response.setBody(Data(value.utf8))
            (report.outcomes, report.new) = ([0: 1], [0: response])
            arm.figures[0].add(report, as: .timed(process: 0), in: 0)
            return arm
        }
        let value = secret.percentEncoded
        let design = ExperimentDesign(
            requests: 1, concurrency: 1, warmUp: 0, weights: [1], timeout: 1, seed: 1, comparisons: 1)
        let report = Report(
            [try arm("curl", value), try arm("urlsession", "x"), try arm("curl", value, isCopy: true)],
            urls: ["http://h/"], design: design,
            command: ComparisonEnvironment.shown(["compare", "-H", "A: \(secret.value)", "http://h/?k=\(value)"]))
        #expect(report.hasDifferences(for: .newDifferences))
        Self.check(ReportText(report).lines.joined(separator: "\n"), secret, "lines")
        Self.check(String(decoding: try report.json, as: UTF8.self), secret, "JSON")
        Self.check(ReportPage(report).text, secret, "page")
        Self.check(ReportJUnit(report, rules: [], alarm: .differences).text, secret, "JUnit")
    }

    @Test func `control sequences for a terminal are made visible, wherever the chunks end`() throws {
        let text = "a\u{1B}[2J\u{9B}é\u{202E}b\r\n\t日本😀\u{7F}"
        let shown = #"a\u{1B}[2J\u{009B}é\u{202E}b\r"# + "\n\t日本😀" + #"\u{7F}"#
        #expect(TerminalText.visible(text) == shown)
        for size in 1...5 {
            var filter = TerminalFilter()
            var bytes: [UInt8] = []
            var rest = Array(text.utf8)[...]
            while !rest.isEmpty {
                bytes += filter.visible(rest.prefix(size))
                rest = rest.dropFirst(size)
            }
            #expect(String(decoding: bytes, as: UTF8.self) == shown)
        }
        let line = String(decoding: JSONValue.string(text).line, as: UTF8.self)
        #expect(!line.unicodeScalars.contains { $0.isInvisible })
        #expect(try JSONParser.parse(Array(line.utf8)) == .string(text))
    }
}
