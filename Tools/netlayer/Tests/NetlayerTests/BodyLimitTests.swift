import ArgumentParser
import Foundation
import NetworkTesting
import Testing
import ToolSupport

@testable import netlayer

/// The option `--max-body` in each way of delivering a body.
@Suite("The --max-body option", .patience(minutes: 2)) struct BodyLimitTests {
    private let folder = TestFolder()

    /// Two complete events, or five lines: 30 bytes.
    private static let body = "data: abc\n\ndata: def\n\ndata: g\n"
    private static let fields = [("Content-Type", "text/event-stream")]

    private func fetch(_ url: String, _ mode: FetchMode, in folder: TestFolder, _ more: [String]) async throws
        -> ToolRun
    {
        try await ToolRun(["fetch", url] + mode.arguments(in: folder) + more)
    }

    @Test(arguments: FetchMode.allCases)
    func `a body above the limit is refused with status 7, and no file appears`(mode: FetchMode) async throws {
        let server = try ScriptedServer(.ok(Self.body, fields: Self.fields))
        for limit in [0, 10, Self.body.utf8.count - 1] {
            let run = try await fetch(server.url(), mode, in: folder, ["--max-body", "\(limit)"])
            #expect(run.status == ProcessStatus.bodyTooLarge.rawValue, "\(limit): \(run.errors)")
            #expect(run.errors.contains("limit of \(limit) bytes"))
            #expect(run.errors.contains("--max-body raises the limit"))
            #expect(try folder.entries == [])
            switch mode {
            case .plain: #expect(run.text == String(Self.body.prefix(limit)))
            case .head: #expect(run.text.hasSuffix("\r\n\r\n" + Self.body.prefix(limit)))
            case .json: #expect(run.text.contains(#""error":{"code":"bodyTooLarge""#))
            case .lines, .events: #expect(run.output.count < 30 * 3)
            case .file, .resumable, .checked: #expect(run.text.isEmpty)
            }
        }
    }

    @Test(arguments: FetchMode.allCases) func `a body as large as the limit is accepted`(mode: FetchMode) async throws {
        // After a stream of events, a 204 response ends the reconnections.
        let server = try ScriptedServer(
            [.read, .send(Script.head(200, fields: Self.fields)), .send(Self.body), .close], .response(204))
        let run = try await fetch(server.url(), mode, in: folder, ["--max-body", "\(Self.body.utf8.count)"])
        let expected = mode == .checked ? ProcessStatus.refusedByResult : .done
        #expect(run.status == expected.rawValue, "\(run.errors)")
        if mode.writesFile, mode != .checked {
            #expect(try folder.read("out") == Self.body)
        }
    }

    @Test(arguments: FetchMode.allCases) func `the limit counts decompressed bytes`(mode: FetchMode) async throws {
        let demo = DemoServer()
        try await demo.start()
        let url = demo.baseURL + "/gzip"
        let plain = try await ToolRun(["fetch", url]).output
        let run = try await fetch(url, mode, in: folder, ["--max-body", "\(plain.count - 1)"])
        let fitting = try await fetch(url, .plain, in: folder, ["--max-body", "\(plain.count)"])
        await demo.stop()
        #expect(fitting.output == plain)
        // The response is no stream of events, and a resumable download accepts no content coding.
        let other: [FetchMode: ProcessStatus] = [.events: .refusedByResult, .resumable: .brokenExchange]
        #expect(run.status == (other[mode] ?? .bodyTooLarge).rawValue, "\(run.errors)")
        #expect(try folder.entries == [])
    }

    @Test func `the body of a redirect or of a retried response does not count`() async throws {
        let large = String(repeating: "x", count: 100)
        let server = try ScriptedServer(
            .response(302, fields: [("Location", "/next"), ("Connection", "close")], body: Data(large.utf8)),
            .response(503, fields: [("Connection", "close"), ("Retry-After", "0")], body: Data(large.utf8)),
            .ok("small"))
        let run = try await ToolRun(["fetch", server.url(), "-L", "--retry", "1", "--max-body", "5"], status: 0)
        #expect(run.text == "small")
    }

    @Test func `an existing partial file counts in full`() async throws {
        let complete = [("ETag", "\"1\""), ("Content-Range", "bytes */20")]
        let rest = [("ETag", "\"1\""), ("Content-Range", "bytes 20-21/22"), ("Content-Length", "2")]
        for (status, fields, body, total) in [(416, complete, "", 20), (206, rest, "yz", 22)] {
            let server = try ScriptedServer(
                [.read, .send(Script.head(status, fields: fields)), .send(body), .close])
            try Data(count: 20).write(to: folder.url.appending(path: "out.partial"))
            try Data(#"{"url":"\#(server.url())","validator":"\"1\"","total":\#(total)}"#.utf8)
                .write(to: folder.url.appending(path: "out.partial.json"))
            let run = try await fetch(server.url(), .resumable, in: folder, ["--max-body", "10"])
            #expect(run.status == ProcessStatus.bodyTooLarge.rawValue, "\(run.errors)")
            #expect(try folder.entries == [])
        }
    }

    @Test(arguments: FetchMode.allCases)
    func `without --max-bytes, 64 MiB are printed, and files, lines, and events are unlimited`(mode: FetchMode) throws {
        let unsaid = try FetchCommand.parse(["http://127.0.0.1/"] + mode.arguments(in: folder))
        let said = try FetchCommand.parse(["http://127.0.0.1/", "--max-body", "7"] + mode.arguments(in: folder))
        #expect(unsaid.bodyLimit == ([.plain, .head, .json].contains(mode) ? 64 << 20 : nil))
        // A download has a limit of its own, which also counts existing bytes.
        #expect(said.bodyLimit == ([.resumable, .checked].contains(mode) ? nil : 7))
    }

    @Test(arguments: [FetchMode.plain, .file])
    func `64 MiB and one byte go to a file, but not to standard output`(mode: FetchMode) async throws {
        let server = try ScriptedServer(.response(body: Data(count: (64 << 20) + 1)))
        let run = try await fetch(server.url(), mode, in: folder, [])
        let expected = mode == .file ? ProcessStatus.done : .bodyTooLarge
        #expect(run.status == expected.rawValue, "\(run.errors)")
        #expect(run.output.count == (mode == .file ? 0 : 64 << 20))
        #expect(try folder.entries == (mode == .file ? ["out"] : []))
    }
}
