import Foundation
import NetworkTesting
import Testing

@testable import netlayer

@Suite("What is on the command line is taken as it is, or refused", .timeLimit(.minutes(1)))
struct ArgumentTests {
    @Test(arguments: ["-d \"$bad\"", "-o \"o$bad\"", "--data-file \"$bad\"", "--data=\"$bad\"", "-H \"A: $bad\""])
    func argumentThatIsNotUTF8_isRefused(option: String) async throws {
        let folder = try TestFolder()
        defer { folder.remove() }
        let server = try ScriptedServer(.ok("new"))
        defer { server.stop() }
        let command = "bad=$(printf '\\377'); exec '\(RunningTool.path)' fetch \(server.url()) \(option)"
        let tool = try RunningTool(["-c", command], shell: true, in: folder)
        #expect(await tool.status == ProcessStatus.usage.rawValue)
        #expect(server.requests.isEmpty)
        #expect(try folder.entries == [])
    }

    @Test(arguments: [
        ["--timeout=a-secret-of-some-length"], ["--timeout", "a-secret-of-some-length"],
        ["--max-body=a-secret-of-some-length"], ["--unknown=a-secret-of-some-length"],
        ["--retry=a-secret-of-some-length"],
    ])
    func longValue_isNotRepeated(options: [String]) async throws {
        let run = try await ToolRun(["fetch", "http://127.0.0.1/"] + options)
        #expect(run.status == ProcessStatus.usage.rawValue)
        #expect(!run.errors.contains("a-secret") && !run.errors.isEmpty)
    }

    @Test func curlCommand_hasWhatThePipelineAdds() async throws {
        let folder = try TestFolder()
        defer { folder.remove() }
        let jar = "# Netscape HTTP Cookie File\na.test\tFALSE\t/\tFALSE\t0\tsid\tkept\n"
        try Data(jar.utf8).write(to: URL(filePath: folder.path("jar")))
        try Data("from-file\n".utf8).write(to: URL(filePath: folder.path("token")))
        let options = [
            "-L", "--max-redirects", "3", "--retry", "2", "--cookie-jar", folder.path("jar"), "--cookie", "own=1",
            "--max-body", "99", "--fail",
        ]
        for token in [["--bearer", "from-file"], ["--bearer-file", folder.path("token")]] {
            let arguments = ["fetch", "https://a.test/", "--curl"] + options + token
            let run = try await ToolRun(arguments + ["--show-secrets"])
            #expect(run.status == 0, "\(run.errors)")
            for words in [
                "'Authorization: Bearer from-file'", "'Cookie: own=1; sid=kept'", "--location --max-redirs 3",
                "--proto-redir '=https'", "--retry 2", "--max-filesize 99", "--fail",
            ] { #expect(run.text.contains(words), "\(run.text)") }
            let redacted = try await ToolRun(arguments)
            #expect(redacted.text.contains("Authorization: ") && redacted.text.contains("Cookie: "))
            #expect(!redacted.text.contains("from-file") && !redacted.text.contains("kept"))
        }
        #expect(try String(contentsOfFile: folder.path("jar"), encoding: .utf8) == jar)
        // What an exchange never adds is not in the command either.
        let own = try await ToolRun(
            ["fetch", "http://b.test/", "--curl", "--show-secrets", "-u", "a:b", "--bearer", "x"] + options)
        #expect(!own.text.contains("Bearer") && !own.text.contains("sid") && !own.text.contains("=https"))
    }
}
