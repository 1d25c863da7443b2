import ArgumentParser
import Foundation
import NetworkLayer
import NetworkTesting
import Testing
import ToolSupport

@testable import netlayer

/// The options that people type for curl.
@Suite(.patience(minutes: 1)) struct CurlFlagsTests {
    private static let form = "Content-Type: application/x-www-form-urlencoded"

    @Test(arguments: [
        (["-I"], "HEAD http://h/a", [String](), nil as String?),
        (["-A", "me", "-e", "http://r/"], "GET http://h/a", ["User-Agent: me", "Referer: http://r/"], nil),
        (["-d", "a=1", "--data-raw", "@b", "-d", "c"], "POST http://h/a", [form], "a=1&@b&c"),
        (["--data-urlencode", "q=ä &", "--data-urlencode", "=x/"], "POST http://h/a", [form], "q=%C3%A4%20%26&x%2F"),
        (["-G", "-d", "a=1", "--data-urlencode", "b= "], "GET http://h/a?a=1&b=%20", [], nil),
        (
            ["--json", #"{"a":1}"#], "POST http://h/a", ["Content-Type: application/json", "Accept: application/json"],
            #"{"a":1}"#
        ),
        (
            ["--json", "{}", "-X", "PUT", "-H", "Accept: x/y"], "PUT http://h/a",
            ["Accept: x/y", "Content-Type: application/json"], "{}"
        ),
        (["-bsid=1; b=2"], "GET http://h/a", ["Cookie: sid=1; b=2"], nil),
        (["-sS", "--compressed", "-x", "http://p/", "-U", "a:b", "--proxy-basic"], "GET http://h/a", [], nil),
    ])
    func `an option means what it means to curl`(
        words: [String], line: String, fields: [String], body: String?
    ) async throws {
        let all = CommandWords.separated(["fetch", "http://h/a"] + words)
        let request = try await FetchCommand.parse(Array(all.dropFirst())).request()
        #expect("\(request.method.rawValue) \(request.url.absoluteString)" == line)
        #expect(request.headerFields.map { "\($0.name.rawName): \($0.value)" } == fields)
        #expect(request.body?.bytes.map { String(decoding: $0, as: UTF8.self) } == body)
    }

    @Test(arguments: [
        ["-d", "a", "--json", "{}"], ["-d", "@f", "-d", "b"], ["-G"], ["-G", "-d", "@f"], ["-I", "-d", "a"],
        ["-I", "-X", "GET"], ["-F", "a=b", "-d", "c"], ["-b", "file"], ["-O", "-o", "f"],
    ])
    func `what curl would not send either is refused`(words: [String]) {
        #expect(throws: (any Error).self) { try FetchCommand.parse(["http://h/"] + words) }
    }

    @Test func `a file is uploaded, and a response is stored under the URL's name`() async throws {
        let folder = TestFolder()
        let server = try ScriptedServer(.ok("hello"))
        _ = try folder.write("file", to: "up")
        let put = try await ToolRun(["fetch", server.url("/d/name.txt?x=/y"), "-T", folder.path("up"), "-v"])
        #expect(put.status == 0 && put.text == "hello")
        #expect(put.errors.contains("> PUT /d/name.txt") && put.errors.contains("< HTTP/1.1 200"), "\(put.errors)")
        #expect(server.requests.last?.body == Data("file".utf8) && server.requests.last?.method == "PUT")
        let command =
            "cd '\(folder.path(""))' && exec '\(RunningTool.path)' fetch '\(server.url("/d/name.txt?x=/y"))' -O"
        let stored = try await ToolRun(["-c", command], of: "/bin/sh")
        #expect(stored.status == 0 && stored.text.isEmpty)
        #expect(try Data(contentsOf: URL(filePath: folder.path("name.txt"))) == Data("hello".utf8))
    }

    @Test(arguments: [("-f", ""), ("--fail-with-body", "sorry")])
    func `a status other than 2xx ends with 1`(option: String, text: String) async throws {
        let server = try ScriptedServer(.response(404, body: Data("sorry".utf8)))
        let run = try await ToolRun(["fetch", server.url(), option])
        #expect(run.status == 1 && run.text == text && run.errors.contains("404"))
    }

    @Test(arguments: [("-k", "--cacert"), ("-w", "--as-json"), ("-Z", "netlayer run"), ("-c", "--cookie-jar")])
    func `an option that is left out names the way`(option: String, way: String) async throws {
        let run = try await ToolRun(["fetch", "http://127.0.0.1:9/", option])
        #expect(run.status == 2 && run.errors.contains(way), "\(run.errors)")
    }
}
