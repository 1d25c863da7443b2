import Foundation
import NetworkLayer
import NetworkRecording
import NetworkTesting
import Testing
import ToolSupport

@testable import netlayer

@Suite("netlayer record, replay and har show", .patience(minutes: 1)) struct RecordingToolTests {
    private let folder = TestFolder()

    private let file = FileManager.default.temporaryDirectory.appending(path: "\(UUID().uuidString).har").path

    @Test func `what is recorded is shown, replayed and compared, without its secrets`() async throws {
        defer { try? FileManager.default.removeItem(atPath: file) }
        let server = try ScriptedServer(
            .ok(#"{"id":1,"token":"canary"}"#, fields: [("Content-Type", "application/json")]))
        let url = server.url("/a?key=canary&page=2")
        let recorded = try await ToolRun(["record", file, url, "-H", "X-Api-Key: canary", "-d", "x=1"], status: 0)
        #expect(recorded.text == "200 POST \(server.url("/a"))?…\n1 exchanges are in \(file)\n")
        let text = try String(contentsOfFile: file, encoding: .utf8)
        #expect(!text.contains("canary") && text.contains("page=2"))

        let shown = try await ToolRun(["har", "show", file])
        #expect(shown.status == 0 && shown.text.contains("POST \(server.url("/a"))?…"))
        #expect(!shown.text.contains("page=2"))

        let same = try await ToolRun(["replay", file, "--transport", "urlsession"])
        #expect(same.status == 0 && same.text.contains(": 200"), "\(same.text)\(same.errors)")
        let sent = try #require(server.requests.last)
        #expect(sent.body == Data("x=1".utf8) && sent.values(of: "X-Api-Key").isEmpty)
        let given = try await ToolRun(["replay", file, "-H", "X-Api-Key: another", "--timing"])
        #expect(given.status == 0 && server.requests.last?.values(of: "X-Api-Key") == ["another"])

        let compared = try await ToolRun(["compare", "--input", file, "-n", "16", "--fail-on", "nothing"])
        #expect(compared.status == 0 && compared.text.contains("POST \(server.url("/a"))?…"), "\(compared.errors)")
    }

    @Test func `a response that has changed is said by its part, and ends replay with 1`() async throws {
        defer { try? FileManager.default.removeItem(atPath: file) }
        let json = [("Content-Type", "application/json")]
        let server = try ScriptedServer(
            .ok(#"{"id":1,"name":"a"}"#, fields: json), .ok(#"{"id":1,"name":"b"}"#, fields: json))
        _ = try await ToolRun(["record", file, server.url("/")])
        let changed = try await ToolRun(["replay", file], status: 1)
        let line = "  json:/name: 'a' over recorded, 'b' over now"
        #expect(changed.text.split(separator: "\n").contains { $0 == line }, "\(changed.text)")
    }

    /// Regression: an entry of a WebSocket counted as a new difference; a code with a line feed made a line of its own.
    @Test func `what a browser's file has besides requests of HTTP is left out and said`() async throws {
        defer { try? FileManager.default.removeItem(atPath: file) }
        let server = try ScriptedServer(.ok("hello"))
        func entry(_ url: String, _ status: Int, _ more: String = "") -> String {
            """
            {"startedDateTime":"2026-01-01T00:00:00Z","time":1,"request":{"method":"GET","url":"\(url)",\
            "httpVersion":"HTTP/1.1","headers":[],"queryString":[],"cookies":[],"headersSize":-1,"bodySize":0},\
            "response":{"status":\(status),"statusText":"","httpVersion":"HTTP/1.1","headers":[],"cookies":[],\
            "content":{"size":5,"mimeType":"text/plain","text":"hello"},"redirectURL":"","headersSize":-1,\
            "bodySize":5},"cache":{},"timings":{"send":0,"wait":1,"receive":0}\(more)}
            """
        }
        func har(_ entries: [String]) -> Data {
            Data(
                #"{"log":{"version":"1.2","creator":{"name":"b","version":"1"},"entries":[\#(entries.joined(separator: ","))]}}"#
                    .utf8)
        }
        let whole = har([
            entry(server.url(), 200), entry("wss://h/", 101), entry("blob:http://h/1", 200), entry("data:,x", 200),
            entry("javascript:void(0)", 200),
        ])
        try whole.write(to: URL(filePath: file))
        let shown = try await ToolRun(["har", "show", file])
        #expect(shown.text.contains("1 exchanges in") && shown.errors.contains("1 of javascript:"), "\(shown.text)")
        let run = try await ToolRun(["replay", file, "--fail-on", "nothing"])
        #expect(run.status == 0 && run.text.contains("1 exchanges over curl"), "\(run.text)\(run.errors)")
        #expect(
            run.errors.contains("entries are left out: 1 of blob:, 1 of data:, 1 of javascript:, 1 of wss:"),
            "\(run.errors)")

        let forged = #","_error":{"code":"x\nGET https://bank/","message":""}"#
        try har([entry(server.url(), 0, forged)]).write(to: URL(filePath: file))
        for command in [["har", "show", file], ["replay", file]] {
            let shown = try await ToolRun(command).text
            #expect(shown.contains("bank") && !shown.contains("\nGET https://bank"), "\(shown)")
        }
    }

    /// Regression: `replay -H 'Authorization: …'` sent the credential to every origin of a browser's file.
    @Test func `a secret field is sent only with requests that had it`() async throws {
        let (own, other) = (try ScriptedServer(.ok("x")), try ScriptedServer(.ok("x")))
        var recording = Recording(entries: [
            .init(
                request: .init(url: own.url(), headerFields: [.authorization: "Bearer old"]),
                response: .init(status: 200, body: .init(Data("x".utf8)))),
            .init(request: .init(url: other.url()), response: .init(status: 200, body: .init(Data("x".utf8)))),
        ])
        try recording.write(to: folder.path("a.har"), bodies: .all)
        _ = try await ToolRun(
            [
                "replay", folder.path("a.har"), "-H", "Authorization: Bearer new", "-H", "X-A: 1", "--fail-on",
                "nothing",
            ], status: 0)
        #expect(own.requests.map { $0.values(of: "Authorization") } == [["Bearer new"]])
        #expect(other.requests.map { $0.values(of: "Authorization") } == [[]])
        #expect(other.requests.map { $0.values(of: "X-A") } == [["1"]])

        recording.entries[0].request.headerFields = [:]
        try recording.write(to: folder.path("b.har"), bodies: .all)
        let refused = try await ToolRun(["replay", folder.path("b.har"), "-H", "Authorization: Bearer new"])
        #expect(refused.status == 2 && refused.errors.contains("2 origins"), "\(refused.errors)")
        #expect(own.requests.count == 1 && other.requests.count == 1)

        recording.entries.removeLast()
        try recording.write(to: folder.path("c.har"), bodies: .all)
        _ = try await ToolRun(["replay", folder.path("c.har"), "-H", "Authorization: Bearer new"])
        #expect(own.requests.last?.values(of: "Authorization") == ["Bearer new"])
    }

    /// Regression: "the same" was said of bodies that were never compared.
    @Test func `how far bodies were compared is said`() async throws {
        let server = try ScriptedServer([.forEachRequest([.send("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabc")])])
        let bodies = [
            Recording.Body(Data("abc".utf8)), Recording.Body(Data("ab".utf8), omitted: 1), Recording.Body(omitted: 3),
        ]
        let entries = bodies.enumerated().map { number, body in
            Recording.Entry(
                request: .init(url: server.url("/\(number)")),
                response: .init(status: 200, headerFields: [.contentLength: "3"], body: body))
        }
        try Recording(entries: entries).write(to: folder.path("a.har"), bodies: .all)
        let run = try await ToolRun(["replay", folder.path("a.har")], status: 0)
        let lines = run.text.split(separator: "\n").map(String.init)
        #expect(lines[0].hasSuffix("/0: 200, the same"))
        #expect(lines[1].hasSuffix("/1: 200, the same as far as it was recorded: 2 bytes of the body"))
        #expect(lines[2].hasSuffix("/2: 200, the same but for the body, which was not recorded"))
        #expect(
            lines[3].hasSuffix(
                "0 differ, 1 compared by the start of their bodies alone, 1 without their bodies"))
    }

    /// Regression: exchanges that a killed recorder had not written were missing without a word.
    @Test func `an incomplete recording is shown, and neither replayed nor compared`() async throws {
        var recording = Recording(entries: [.init(request: .init(url: "http://127.0.0.1:9/"))])
        recording.isIncomplete = true
        try recording.write(to: folder.path("a.har"), bodies: .all)
        for command in [["replay", folder.path("a.har")], ["compare", "--input", folder.path("a.har")]] {
            let run = try await ToolRun(command)
            #expect(run.status == 8 && run.errors.contains("is incomplete"), "\(run.errors)")
        }
        let shown = try await ToolRun(["har", "show", folder.path("a.har")])
        #expect(shown.status == 0 && shown.text.contains("1 exchanges in") && shown.errors.contains("is incomplete"))
    }

    /// A mark is shorter than its secret, so the recorded part has fewer bytes than were cut.
    @Test func `a body that was cut is compared as far as it is recorded`() async throws {
        let rest = String(repeating: "a", count: 100_000)
        let server = try ScriptedServer(
            .ok(
                #"{"token":"\#(String(repeating: "s", count: 120))","rest":"\#(rest)"}"#,
                fields: [("Content-Type", "application/json")]))
        let file = folder.path("a.har")
        _ = try await ToolRun(["record", file, server.url("/"), "--max-recorded", "300"], status: 0)
        _ = try await ToolRun(["replay", file], status: 0)
    }

    /// Regression: both bodies were cut to the shorter one.
    @Test(arguments: ["", "xxxxxxx", String(repeating: "x", count: 100), String(repeating: "x", count: 4_999)])
    func `a body that is shorter than the recorded one, which was cut, differs`(now: String) async throws {
        let file = folder.path("a.har")
        // Without a length in the head, which would differ by itself.
        func response(_ body: String) -> Script {
            [.read, .send("HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n" + body), .close]
        }
        let recorded = String(repeating: "x", count: 5_000)
        let server = try ScriptedServer(response(recorded), response(recorded), response(now))
        _ = try await ToolRun(["record", file, server.url("/"), "--max-recorded", "100", "--all-bodies"])
        _ = try await ToolRun(["replay", file], status: 0)
        let shorter = try await ToolRun(["replay", file], status: 1)
        #expect(
            shorter.text.contains("body: 5000 bytes over recorded, \(now.utf8.count) bytes over now"),
            "\(shorter.text)")
    }

    @Test func `the length of a recorded body counts where it is known`() {
        func entry(_ omitted: Int, transport: String? = "curl", isRedacted: Bool = false) -> Recording.Entry {
            var entry = Recording.Entry(
                request: .init(url: "http://h/"),
                response: .init(status: 200, body: .init(Data("abc".utf8), omitted: omitted)), transport: transport)
            if isRedacted { entry.redacted = [.responseBody] }
            return entry
        }
        let (short, same) = (Data("ab".utf8), Data("abc".utf8))
        #expect(entry(0).hasLongerBody(than: short, of: 2) && !entry(0).hasLongerBody(than: same, of: 3))
        #expect(entry(5).hasLongerBody(than: same, of: 7) && !entry(5).hasLongerBody(than: same, of: 8))
        #expect(entry(5, isRedacted: true).hasLongerBody(than: short, of: 9))
        #expect(!entry(5, isRedacted: true).hasLongerBody(than: same, of: 7))
        #expect(entry(5, transport: nil).hasLongerBody(than: short, of: 2))
        #expect(!entry(5, transport: nil).hasLongerBody(than: same, of: 7))
    }

    @Test func `a file is not overwritten without --force, and a bad one is named`() async throws {
        defer { try? FileManager.default.removeItem(atPath: file) }
        try "mine".write(toFile: file, atomically: true, encoding: .utf8)
        let refused = try await ToolRun(["record", file, "http://127.0.0.1:1/"])
        #expect(refused.status == 8 && refused.errors.contains(file))
        #expect(try String(contentsOfFile: file, encoding: .utf8) == "mine")
        for command in [["har", "show", file], ["replay", file]] {
            let run = try await ToolRun(command)
            #expect(run.status == 8 && run.errors.contains("invalidRecording"), "\(run.errors)")
        }
        let forced = try await ToolRun(["record", file, "http://127.0.0.1:1/", "--force"])
        #expect(forced.status == 1 && forced.text.contains("connectFailed"))
    }
}
