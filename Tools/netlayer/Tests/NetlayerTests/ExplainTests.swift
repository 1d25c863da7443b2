import Foundation
import Testing
import ToolSupport

@testable import netlayer

/// What applies to a request, and why.
@Suite("explain", .patience(minutes: 1)) struct ExplainTests {
    private let folder = TestFolder()

    private func write(_ text: String) throws -> String {
        let path = folder.path("settings.json")
        try Data(text.utf8).write(to: URL(filePath: path))
        return path
    }

    @Test func `the keys of a file are shown with their source, and secrets are not`() async throws {
        let file = try write(
            """
            {"services": {"orders": {"baseURL": "https://orders.internal", "timeout": {"connect": "2 s"},
            "secretFields": ["X-A", "X-B"], "authentication": {"scheme": "bearer", "token": "hunter2"}}}}
            """)
        let words = ["explain", "--settings", file, "--namespace", "services.orders"]
        let run = try await ToolRun(words, environment: ["https_proxy": "http://me:hunter3@p:1"], status: 0)
        for part in ["https://orders.internal", "timeout.connect", "2 s", file, "X-A,X-B", "https_proxy"] {
            #expect(run.text.contains(part), "\(part) is not in \(run.text)")
        }
        #expect(!run.text.contains("hunter") && !run.text.contains("timeout.idle"))
        let all = try await ToolRun(words + ["--all", "--as-json"], status: 0)
        let json = try JSONSerialization.jsonObject(with: all.output) as? [String: [String: [String: String]]]
        #expect(json?["settings"]?["timeout.idle"] == ["value": "60 s", "why": "default"])
        #expect(json?["facts"]?["URL"]?["value"] == "https://orders.internal/")
    }

    @Test func `--transport wins over the file and the variable`() async throws {
        let words = ["explain", "--settings", try write(#"{"transport": "curl"}"#), "--transport", "urlsession"]
        let run = try await ToolRun(words, environment: ["NETWORK_TRANSPORT": "curl"], status: 0)
        #expect(run.text.contains("transport: urlsession (--transport)\n"), "\(run.text)")
        #expect(run.text.contains("transport = urlsession (--transport)\n"), "\(run.text)")
    }

    @Test func `keys that the file has come first`() async throws {
        let file = try write(#"{"curl": {"loops": 2}}"#)
        let run = try await ToolRun(["explain", "--settings", file, "--all"], status: 0)
        #expect(run.text.split(separator: "\n").first { $0.contains(" = ") } == "curl.loops = 2 (\(file))")
    }

    @Test func `a variable that names no shadow is wrong`() async throws {
        let run = try await ToolRun(
            ["explain"], environment: ["NETWORK_TRANSPORT": "curl,shadow=urlsession"], status: 3)
        #expect(run.errors.contains("NETWORK_TRANSPORT is curl,shadow=urlsession"), "\(run.errors)")
    }

    @Test(arguments: [
        (
            #"{"timeout": {"conect": "2 s"}, "httpVersion": "4"}"#, ["--all"],
            ["timeout.conect is not a key", "httpVersion"]
        ),
        (#"{"timeout": {"idle": "2 s"}, "timeout.idle": "3 s"}"#, [], ["timeout.idle is given twice"]),
        ("[1]", [], ["has no object with keys"]), ("{", [], ["is no JSON"]),
        ("{}", ["--namespace", "a"], ["no object 'a'"]),
    ]) func `what is wrong in a file is named`(text: String, words: [String], parts: [String]) async throws {
        let run = try await ToolRun(["explain", "--settings", try write(text)] + words)
        #expect(run.status != 0)
        for part in parts { #expect(run.errors.contains(part), "\(run.errors)") }
    }
}
