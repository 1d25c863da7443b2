import ArgumentParser
import Foundation
import NetworkLayer
import NetworkTesting
import Testing
import ToolSupport

@testable import netlayer

/// Where the requests of a comparison come from, and what tells them apart.
@Suite("The requests of netlayer compare", .patience(minutes: 2)) struct RequestsCompareTests {
    private let folder = TestFolder()

    @Test(arguments: [
        (["{\"url\":\"http://127.0.0.1:1/\"}", "{"], "line 2: not JSON"),
        (["{\"uri\":\"x\"}"], "line 1: 'url' is missing"),
        (["{\"url\":\"ftp://x/\"}"], "line 1: "),
        ([], "has no requests"),
    ])
    func `a file that can't be used is said once, with the line`(lines: [String], words: String) async throws {
        let path = try folder.write(lines.joined(separator: "\n"), to: "lines")
        let run = try await ToolRun(["compare", "--input", path])
        #expect(run.status != 0 && run.errors.contains(words), "\(run.errors)")
        #expect(run.errors.split(separator: "\n").count == 1)
    }

    @Test func `requests that are shown alike are told apart`() throws {
        func request(_ url: String, _ fields: HTTPFields = [:], _ body: String? = nil) throws -> SourceRequest {
            let body = body.map { TransportRequest.Body.bytes(Data($0.utf8)) }
            return SourceRequest(
                try TransportRequest(method: body == nil ? .get : .post, to: url, headerFields: fields, body: body)
            ) { transport, _ in NetworkClient(transport: transport) }
        }
        let requests = [
            try request("http://h/s"), try request("http://h/s?q=a"), try request("http://h/s?q=b"),
            try request("http://h/s", [.accept: "a/b"]), try request("http://h/s", [:], "a"),
            try request("http://h/s", [:], "b"),
        ]
        #expect(Set(requests.map { $0.fingerprint() }).count == 6)
        #expect(try request("http://h/s?q=a").fingerprint() == requests[1].fingerprint())
        #expect(requests.map(\.isPlain) == [true, false, false, false, false, false])
    }

    /// Regression: a protocol, a proxy or a redirect more was the same request to a baseline.
    @Test func `options tell requests apart, and timeouts don't`() async throws {
        func fingerprint(_ words: [String] = []) async throws -> String {
            let command = try CompareCommand.parse(["http://h/"] + words)
            return try #require(try await command.requestsToCompare(InputFiles()).first).fingerprint()
        }
        let plain = try await fingerprint()
        var seen: Set<String> = [plain]
        for words in [
            ["--http1.0"], ["-L"], ["-L", "--max-redirects", "3"], ["--retry", "1"], ["-x", "http://p:1"],
            ["--resolve", "h:80:127.0.0.1"], ["-u", "a:b"], ["-u", "a:c"],
        ] {
            #expect(seen.insert(try await fingerprint(words)).inserted, "\(words)")
        }
        #expect(try await fingerprint(["--timeout", "3", "--connect-timeout", "2"]) == plain)
        #expect(try await fingerprint(["--max-body", "30"]) != plain)
    }

    @Test func `lines are requests of their own, by all that they say`() async throws {
        let lines = [
            #"{"url":"http://h/"}"#, #"{"url":"http://h/","options":{"followRedirects":true}}"#,
            #"{"url":"http://h/","options":{"maxBodyBytes":5}}"#, #"{"id": 1, "url":"http://h/"}"#,
        ]
        let file = try folder.write(lines.joined(separator: "\n"), to: "lines")
        let command = try CompareCommand.parse(["--input", file])
        let files = InputFiles()
        let requests = try await command.requestsToCompare(files)
        #expect(requests.map(\.weight) == [2, 1, 1])
        let fingerprints = requests.map { $0.fingerprint() }
        #expect(Set(fingerprints).count == 3)
        let again = try await command.requestsToCompare(InputFiles(read: files.all))
        #expect(again.map { $0.fingerprint() } == fingerprints)
    }

    /// Regression: each process read the files again, and sent what was there by then. A pipe has its bytes once.
    @Test(arguments: ["file", "pipe"])
    func `each process sends what the comparison has read`(_ kind: String) async throws {
        let server = try ScriptedServer(.ok("hello"))
        let (lines, token) = (folder.path("lines"), folder.path("token"))
        let text = #"{"url":"\#(server.url("/a"))"}"#
        try Data("first".utf8).write(to: URL(filePath: token))
        if kind == "pipe" {
            try #require(try await ToolRun([lines], of: "/usr/bin/mkfifo").status == 0)
        } else {
            try Data(text.utf8).write(to: URL(filePath: lines))
        }
        let run = Task {
            try await ToolRun([
                "compare", "--input", lines, server.url("/b"), "--bearer-file", token, "-n", "100", "--arm", "curl",
                "--arm", "curl:loops=2",
            ])
        }
        // The pipe opens for writing when the tool reads it.
        if kind == "pipe" { _ = try await ToolRun(["-c", "printf %s '\(text)' >'\(lines)'"], of: "/bin/sh") }
        try await server.wait(atMost: .seconds(30 * patienceFactor)) { !$0.requests.isEmpty }
        try FileManager.default.removeItem(atPath: lines)
        try Data("second".utf8).write(to: URL(filePath: token))
        let ended = try await run.value
        #expect(ended.status == 0, "\(ended.errors)")
        #expect(Set(server.requests.map(\.target)) == ["/a", "/b"])
        let tokens = server.requests.filter { $0.target == "/b" }.map { $0.values(of: "authorization").joined() }
        #expect(Set(tokens) == ["Bearer first"])
    }

    @Test func `files beyond the limit are refused before anything is sent`() async throws {
        for name in ["a", "b"] { try Data(count: 600).write(to: URL(filePath: folder.path(name))) }
        let files = InputFiles(limit: 1000)
        #expect(try await files.bytes(of: folder.path("a"), limit: 600).count == 600)
        #expect(try await files.bytes(of: folder.path("a"), limit: 600).count == 600)
        await #expect(throws: ToolFailure.self) { try await files.bytes(of: folder.path("b"), limit: 599) }
        await #expect(throws: ToolFailure.self) { try await files.bytes(of: folder.path("b"), limit: 600) }
        await #expect(throws: ToolFailure.self) {
            try await InputFiles(read: files.all).bytes(of: folder.path("b"), limit: 600)
        }
    }

    @Test(arguments: [["-H", "X-A: b"], ["-X", "DELETE"], ["--http1.0"], ["-L"], ["-d", "x"], ["--bearer", "t"]])
    func `options for requests without a URL are refused`(_ words: [String]) async throws {
        let run = try await ToolRun(["compare", "--from-curl", "curl http://127.0.0.1:1/"] + words)
        #expect(run.status == 2 && run.errors.contains("options for requests hold for URLs"), "\(run.errors)")
        #expect(throws: (any Error).self) {
            try CompareCommand.parse(["http://h/", "--no-pipeline", "--bearer", "t"])
        }
    }

    /// Regression: the whole comparison ran, and had differences.
    @Test(arguments: [["--bearer", "a\u{1}b"], ["--unix-socket", "/\(String(repeating: "x", count: 200))"]])
    func `a request that no arm can send ends the comparison`(_ words: [String]) async throws {
        let run = try await ToolRun(
            ["compare", "http://127.0.0.1:1/", "--arm", "curl", "--arm", "curl:loops=2"] + words)
        #expect(run.status == 3 && run.errors.contains("no arm can send http://127.0.0.1:1/: "), "\(run.errors)")
        // A busy machine takes long enough for a line of progress.
        let lines = run.errors.split(separator: "\n").filter { !$0.hasPrefix("round ") }
        #expect(lines.count == 1 && run.output.isEmpty)
    }

    /// Regression: failures before anything counted were nowhere, and the status was 0.
    @Test func `failures of first requests are said`() async throws {
        let server = try ScriptedServer(scripts: Array(repeating: [.readHead, .reset], count: 3) + [.ok()])
        let file = folder.path("junit.xml")
        let run = try await ToolRun([
            "compare", server.url(), "-n", "8", "--warm-up", "0", "--arm", "curl", "--arm", "curl:loops=2",
            "--no-pipeline", "--junit", file,
        ])
        #expect(run.status == 1 && run.text.contains("before anything counted, requests failed: "), "\(run.text)")
        // What ends the command with 1 is a failure for continuous integration, too.
        let report = try String(contentsOfFile: file, encoding: .utf8)
        #expect(report.contains(#"<failure message="before anything counted: 1 connectionLost"/>"#), "\(report)")
    }

    /// Regression: a check before the measurement opened and closed the pipe, and its reader was gone.
    @Test func `a report goes to a pipe whose reader waits`() async throws {
        let server = try ScriptedServer(.ok())
        let pipe = try NamedPipe(in: folder)
        async let reader = ToolRun([pipe.path], of: "/usr/bin/cat")
        _ = try await ToolRun(
            [
                "compare", server.url(), "-n", "8", "--warm-up", "0", "--arm", "curl", "--arm", "curl:loops=2",
                "--html", pipe.path,
            ], status: 0)
        #expect(try await reader.text.contains("median"))
    }

    /// Regression: a sparse file on a full disk ended the tool by SIGBUS; other errors had no words.
    @Test func `a folder for temporary files that can't be written is said`() async throws {
        let run = try await ToolRun(["compare", "http://127.0.0.1:1/"], environment: ["TMPDIR": "/nonexistent/"])
        #expect(run.status == 8 && run.errors.contains("the folder for temporary files"), "\(run.errors)")
    }

    @Test func `each URL has cold requests of its own`() async throws {
        // Longer than a busy machine takes for the first request of each of the arms.
        let pause = 2_000
        let fast = try ScriptedServer(.ok())
        let slow = try ScriptedServer([
            .read, .pause(.milliseconds(pause)), .send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"), .close,
        ])
        let (report, _) = try await ToolRun.compare(fast.url(), slow.url(), "-n", "8", "--warm-up", "0")
        let colds = report.urls.map { $0.arms.map { $0.summary.coldMs ?? 0 } }
        #expect(colds[1].allSatisfy { $0 >= Double(pause) } && colds[0].contains { $0 < Double(pause) }, "\(colds)")
    }

    @Test func `a URL that can't be sent is said once`() async throws {
        let run = try await ToolRun(["compare", "ftp://127.0.0.1/"])
        #expect(run.status == 3 && run.output.isEmpty)
        #expect(run.errors.split(separator: "\n").count == 1)
        let second = try await ToolRun(["compare", "http://127.0.0.1:1/", "none.har"])
        #expect(second.status == 3 && second.errors.contains("URL 2 of 2: "), "\(second.errors)")
        let swapped = try await ToolRun(["record", "http://127.0.0.1:1/", "none.har"])
        #expect(swapped.status == 2 && swapped.errors.contains("the file comes first"), "\(swapped.errors)")
    }
}
