import Foundation
import JSONText
import NetworkCore
import NetworkTesting
import Testing
import ToolSupport

@testable import netlayer

/// The option `--cookie-jar`: cookies that a server has set are kept, however the exchange ends.
@Suite("The --cookie-jar option", .patience(minutes: 1)) struct CookieJarOptionTests {
    private let folder = TestFolder()

    private static let cookie = ("Set-Cookie", "sid=kept; Path=/; Max-Age=3600")

    @Test(arguments: FetchMode.allCases)
    func `cookies are kept when there are too many redirects`(mode: FetchMode) async throws {
        let server = try ScriptedServer(.response(302, fields: [("Location", "/"), Self.cookie]))
        let options = ["-L", "--max-redirects", "1", "--cookie-jar", folder.path("jar")]
        let run = try await ToolRun(
            ["fetch", server.url()] + options + mode.arguments(in: folder),
            status: ProcessStatus.brokenExchange.rawValue)
        #expect(run.errors.contains("tooManyRedirects"))
        #expect(try folder.read("jar").contains("sid\tkept"))
    }

    @Test(arguments: FetchMode.allCases)
    func `cookies of a response with a truncated body are kept`(mode: FetchMode) async throws {
        let fields = [("Content-Type", "text/event-stream"), ("Content-Length", "100"), Self.cookie]
        let cut: Script = [.read, .send(Script.head(200, fields: fields)), .send("data: 1\n\n"), .close]
        // A download and a stream of events continue with another request, which the server refuses.
        let server = try ScriptedServer(cut, .response(403))
        let options = ["--cookie-jar", folder.path("jar")]
        let run = try await ToolRun(["fetch", server.url()] + options + mode.arguments(in: folder))
        let isRepeated = [.events, .resumable, .checked].contains(mode)
        let expected = isRepeated ? ProcessStatus.refusedByResult : .brokenExchange
        #expect(run.status == expected.rawValue, "\(run.errors)")
        if mode == .json { #expect(run.text.contains(#""error":{"code":"truncatedBody""#)) }
        #expect(try folder.read("jar").contains("sid\tkept"))
    }

    @Test func `cookies are kept when --fail refuses the response, and after a timeout`() async throws {
        let fields = [("Content-Length", "9"), Self.cookie]
        // The head has to arrive before it.
        let timeout = "\(5 * patienceFactor)"
        for (script, options, status) in [
            (Script.response(404, fields: [Self.cookie]), ["--fail"], ProcessStatus.refusedByResult),
            ([.read, .send(Script.head(200, fields: fields)), .stall], ["--timeout", timeout], .timeout),
        ] {
            let server = try ScriptedServer(script)
            let run = try await ToolRun.untilTimeout(
                ["fetch", server.url(), "--cookie-jar", folder.path("jar")] + options)
            #expect(run.status == status.rawValue, "\(run.errors)")
            #expect(try folder.read("jar").contains("sid\tkept"))
        }
    }

    @Test func `a file that can't be written is reported, and does not hide why the exchange failed`() async throws {
        let jar = folder.path("missing/jar")
        let server = try ScriptedServer(.response(404, fields: [Self.cookie]))
        let failed = try await ToolRun(
            ["fetch", server.url(), "--fail", "--cookie-jar", jar], status: ProcessStatus.refusedByResult.rawValue)
        #expect(failed.errors.contains("404") && failed.errors.contains(jar))
        let done = try await ToolRun(["fetch", server.url(), "--cookie-jar", jar], status: ProcessStatus.file.rawValue)
        #expect(done.errors.contains(jar))
        let json = try await ToolRun(
            ["fetch", server.url(), "--as-json", "--cookie-jar", jar], status: ProcessStatus.file.rawValue)
        #expect(try JSONParser.parse(Array(json.output.dropLast())) != .null)
    }
}
