import ArgumentParser
import Foundation
import NetworkLayer
import NetworkTesting
import TestSupport
import Testing

@testable import netlayer

/// Where the requests of a comparison come from, and what tells them apart.
@Suite("The requests of netlayer compare", .patience(minutes: 2))
struct RequestsCompareTests {
    @Test(arguments: [
        (["{\"url\":\"http://127.0.0.1:1/\"}", "{"], "line 2: not JSON"),
        (["{\"uri\":\"x\"}"], "line 1: 'url' is missing"),
        (["{\"url\":\"ftp://x/\"}"], "line 1: "),
        ([], "has no requests"),
    ])
    func `a file that can't be used is said once, with the line`(lines: [String], words: String) async throws {
        let path = FileManager.default.temporaryDirectory.appending(path: "lines-\(UUID().uuidString)").path
        defer { try? FileManager.default.removeItem(atPath: path) }
        try lines.joined(separator: "\n").write(toFile: path, atomically: true, encoding: .utf8)
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
        func fingerprint(_ words: String...) async throws -> String {
            let command = try CompareCommand.parse(["http://h/"] + words)
            return try #require(try await command.requestsToCompare().first).fingerprint()
        }
        let plain = try await fingerprint()
        var seen: Set<String> = [plain]
        for words in [
            ["--http1.0"], ["-L"], ["-L", "--max-redirects", "3"], ["--retry", "1"], ["-x", "http://p:1"],
            ["--resolve", "h:80:127.0.0.1"], ["-u", "a:b"], ["-u", "a:c"],
        ] {
            let command = try CompareCommand.parse(["http://h/"] + words)
            let own = try #require(try await command.requestsToCompare().first).fingerprint()
            #expect(seen.insert(own).inserted, "\(words)")
        }
        #expect(try await fingerprint("--timeout", "3", "--connect-timeout", "2") == plain)
        #expect(try await fingerprint("--max-body", "30") != plain)
    }

    @Test func `lines are requests of their own, by all that they say`() async throws {
        let folder = try TestFolder()
        defer { folder.remove() }
        let lines = [
            #"{"url":"http://h/"}"#, #"{"url":"http://h/","options":{"followRedirects":true}}"#,
            #"{"url":"http://h/","options":{"maxBodyBytes":5}}"#,
        ]
        try lines.joined(separator: "\n").write(toFile: folder.path("l"), atomically: true, encoding: .utf8)
        let command = try CompareCommand.parse(["--input", folder.path("l")])
        let fingerprints = try await command.requestsToCompare().map { $0.fingerprint() }
        #expect(Set(fingerprints).count == 3)
        #expect(try await command.requestsToCompare().map { $0.fingerprint() } == fingerprints)
    }

    /// Regression: each process read the files again, and sent what was there by then.
    @Test func `requests that change within a comparison end it`() async throws {
        let (server, folder) = (try ScriptedServer(.ok("hello")), try TestFolder())
        defer {
            server.stop()
            folder.remove()
        }
        let path = folder.path("lines")
        func write(_ target: String) throws {
            try #"{"url":"\#(server.url(target))"}"#.write(toFile: path, atomically: true, encoding: .utf8)
        }
        try write("/a")
        let run = Task { try await ToolRun(["compare", "--input", path, "-n", "1000000", "--time", "20"]) }
        try await server.wait { !$0.requests.isEmpty }
        try write("/b")
        let ended = try await run.value
        #expect(ended.status == 2 && ended.errors.contains("has changed since the comparison began"), "\(ended.errors)")
        #expect(!server.requests.contains { $0.target == "/b" })
    }

    @Test(arguments: [["-H", "X-A: b"], ["-X", "DELETE"], ["--http1.0"], ["-L"], ["-d", "x"], ["--bearer", "t"]])
    func `options for requests without a URL are refused`(_ words: [String]) async throws {
        let run = try await ToolRun(["compare", "--from-curl", "curl http://127.0.0.1:1/"] + words)
        #expect(run.status == 2 && run.errors.contains("options for requests hold for URLs"), "\(run.errors)")
        #expect(throws: (any Error).self) {
            try CompareCommand.parse(["http://h/", "--no-pipeline", "--bearer", "t"])
        }
    }

    @Test func `a URL that can't be sent is said once`() async throws {
        let run = try await ToolRun(["compare", "ftp://127.0.0.1/"])
        #expect(run.status == 3 && run.output.isEmpty)
        #expect(run.errors.split(separator: "\n").count == 1)
    }
}
