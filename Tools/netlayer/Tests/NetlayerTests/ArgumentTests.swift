import Foundation
import JSONText
import NetworkTesting
import Testing
import ToolSupport

@testable import netlayer

@Suite("Arguments are used unchanged or refused", .patience(minutes: 1)) struct ArgumentTests {
    private let folder = TestFolder()

    @Test(arguments: ["-d \"$bad\"", "-o \"o$bad\"", "--data-raw \"$bad\"", "--data=\"$bad\"", "-H \"A: $bad\""])
    func `an argument that is not UTF-8 is refused`(option: String) async throws {
        let server = try ScriptedServer(.ok("new"))
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
    func `a long value is not repeated`(options: [String]) async throws {
        let run = try await ToolRun(["fetch", "http://127.0.0.1/"] + options, status: ProcessStatus.usage.rawValue)
        #expect(!run.errors.contains("a-secret") && !run.errors.isEmpty)
    }

    private static let tokens = [
        "eyJhbGciOiJIUzI1NiJ9.e30.Zm9v", "ghp_16C7e42F292c6912E7710c838347Ae178B4a", "sk_live_4eC39HqLyjWDarjtT1zdp7dc",
        "AKIAIOSFODNN7EXAMPLE", "correct horse battery", "ab/cd+EF0123456789/ghijklmnop==", "hunter2!", "",
        "c0ffee00-1234-4321-8888-0123456789ab", "deadbeefdeadbeefdeadbeefdeadbeef", "\u{1B}[2J",
    ]

    /// Regression: a token in the place of a token's name is a likely mistake, and appeared in the shell's log.
    @Test(arguments: tokens) func `a token in the place of its name is not shown`(token: String) {
        #expect(ShownName.variable(token) == "(\(token.utf8.count) bytes)")
        #expect(ShownName.path(token) == "(\(token.utf8.count) bytes)")
    }

    @Test(arguments: ["--bearer-env", "--bearer-file"])
    func `a token in the place of its name is not repeated`(option: String)
        async throws
    {
        let run = try await ToolRun(["fetch", "http://127.0.0.1/", option, Self.tokens[1]])
        #expect(run.status != 0 && run.errors.contains("(40 bytes)") && !run.errors.contains("ghp"), "\(run.errors)")
    }

    @Test func `the name of a token is shown`() async throws {
        for name in ["NO_SUCH_TOKEN", "token2", "GITHUB_ACCESS_TOKEN"] {
            #expect(ShownName.variable(name) == "'\(name)'")
        }
        for path in ["/run/secrets/token.txt", "no-such_token", "../no/such/.token", "/"] {
            #expect(ShownName.path(path) == "'\(path)'")
        }
        for (option, name) in [("--bearer-env", "NO_SUCH_TOKEN"), ("--bearer-file", "/no/such/token.txt")] {
            let run = try await ToolRun(["fetch", "http://127.0.0.1/", option, name])
            #expect(run.status != 0 && run.errors.contains("'\(name)'"), "\(run.errors)")
        }
    }

    @Test(
        arguments: [
            (["-d", "@/no/such"], 8), (["--bearer-file", "/no/such"], 8), (["--bearer-env", "NO_SUCH"], 2),
            (["-F", "a=@/no/such"], 8), (["-X", "HEAD", "-d", "x"], 3),
        ] as [([String], Int32)])
    func `a failure before sending is in the JSON too`(options: [String], status: Int32) async throws {
        let run = try await ToolRun(["fetch", "http://127.0.0.1/", "--as-json"] + options)
        #expect(run.status == status && run.errors.hasPrefix("netlayer: "))
        let json = try JSONSerialization.jsonObject(with: run.output) as? [String: Any]
        let error = json?["error"] as? [String: Any]
        #expect((error?["code"] as? String)?.isEmpty == false && (error?["message"] as? String)?.isEmpty == false)
    }

    @Test(arguments: [["-X", "HEAD", "-d", "x"], ["-u", "a:b", "-H", "Authorization: Basic x"], ["-X", "TRACE"]])
    func `a request that can't be sent has no curl command`(options: [String]) async throws {
        let run = try await ToolRun(["fetch", "http://127.0.0.1/", "--curl"] + options)
        #expect(run.status == ProcessStatus.refusedBeforeSending.rawValue && run.text.isEmpty, "\(run.text)")
    }

    @Test func `a curl command has what the pipeline adds`() async throws {
        let jar = "# Netscape HTTP Cookie File\na.test\tFALSE\t/\tFALSE\t0\tsid\tkept\n"
        _ = try folder.write(jar, to: "jar")
        _ = try folder.write("from-file\n", to: "token")
        let options = [
            "--cookie-jar", folder.path("jar"), "--cookie", "own=1", "--max-body", "99", "--fail",
        ]
        for token in [["--bearer", "from-file"], ["--bearer-file", folder.path("token")]] {
            let arguments = ["fetch", "https://a.test/", "--curl"] + options + token
            let run = try await ToolRun(arguments + ["--show-secrets"], status: 0)
            for words in [
                "'Authorization: Bearer from-file'", "'Cookie: own=1; sid=kept'", "--max-filesize 99", "--fail",
            ] { #expect(run.text.contains(words), "\(run.text)") }
            let redacted = try await ToolRun(arguments)
            #expect(redacted.text.contains("Authorization: ") && redacted.text.contains("Cookie: "))
            #expect(!redacted.text.contains("from-file") && !redacted.text.contains("kept"))
        }
        #expect(try folder.read("jar") == jar)
        let several = try await ToolRun(
            ["fetch", "https://a.test/", "--curl", "-L", "--max-redirects", "3", "--retry", "2"])
        for words in ["--location --max-redirs 3", "--proto-redir '=https'", "--retry 2 --retry-connrefused", "  # "] {
            #expect(several.text.contains(words), "\(several.text)")
        }
        #expect(several.text.contains("305") && !several.text.contains("max-time"), "\(several.text)")
        let timed = try await ToolRun(["fetch", "https://a.test/", "--curl", "--retry", "2", "--timeout", "1.5"])
        for words in ["--max-time 1.5", "--retry-max-time 2", "of each try"] {
            #expect(timed.text.contains(words), "\(timed.text)")
        }
        // Fields that an exchange never adds are not in the command either.
        let own = try await ToolRun(
            ["fetch", "http://b.test/", "--curl", "--show-secrets", "-u", "a:b", "--bearer", "x"] + options)
        #expect(!own.text.contains("Bearer") && !own.text.contains("sid") && !own.text.contains("=https"))
    }

    /// A request as a redirect changes it, without the fields that every client has of its own.
    private static func shown(_ requests: [ReceivedRequest]) -> [String] {
        requests.map { request in
            let fields = ["Content-Type", "X-Own"].map { "\($0)=\(request.values(of: $0))" }
            return "\(request.method) \(request.target) \(fields) \(String(decoding: request.body, as: UTF8.self))"
        }
    }

    /// Regression: with `--location`, the command kept the method or lost the body where the tool does not.
    @Test(
        arguments: [
            ([], false), (["-X", "HEAD"], false), (["-H", "X-Own: 1"], false), (["-X", "POST"], false),
            (["-d", "x"], true), (["-d", "x", "-H", "X-Own: 1"], true),
            (["-d", "x", "-H", "Content-Type: text/plain"], true), (["-F", "a=b"], true),
            (["-X", "PUT", "-d", "x"], true), (["-X", "DELETE"], true), (["-X", "PATCH", "-d", "x"], true),
            (["-X", "GET", "-d", "x"], true), (["-X", "OPTIONS"], true), (["-X", "FOO"], true),
        ])
    func `a curl command follows as the tool does, or is refused`(options: [String], isRefused: Bool) async throws {
        if isRefused {
            let run = try await ToolRun(["fetch", "http://127.0.0.1/", "-L", "--curl"] + options)
            #expect(run.status == ProcessStatus.usage.rawValue && run.errors.contains("--location"), "\(run.errors)")
            return
        }
        for status in [302, 303, 307] {
            func requests(_ work: (String) async throws -> Void) async throws -> [String] {
                let fields = [("Location", "/end"), ("Content-Length", "0"), ("Connection", "close")]
                let server = try ScriptedServer([.read, .send(Script.head(status, fields: fields)), .close], .ok())
                try await work(server.url("/start"))
                return Self.shown(server.requests)
            }
            let own = try await requests { url in
                _ = try await ToolRun(["fetch", url, "-L"] + options, status: 0)
            }
            let curls = try await requests { url in
                let run = try await ToolRun(["fetch", url, "-L", "--curl", "--show-secrets"] + options, status: 0)
                #expect(await (try RunningTool(["-c", run.text], shell: true)).status == 0)
            }
            #expect(curls == own, "\(status)")
        }
    }

    /// curl would take them to another origin, or would not send what the first response sets.
    @Test(arguments: [
        (["-L", "-H", "X-Api-Key: k"], "'X-Api-Key'"), (["-L", "-H", "Referer: http://a/"], "'Referer'"),
        (["-L", "--cookie-jar", "/no/jar"], "--cookie-jar"),
        (["--retry", "1", "--cookie-jar", "/no/jar"], "--cookie-jar"),
    ])
    func `a redirect that curl can't follow is named`(options: [String], name: String) async throws {
        let run = try await ToolRun(["fetch", "http://127.0.0.1/", "--curl"] + options)
        #expect(run.status == ProcessStatus.usage.rawValue && run.text.isEmpty, "\(run.text)")
        #expect(run.errors.contains(name), "\(run.errors)")
    }

    /// Regression: the command repeated a POST, which the tool sends once.
    @Test(arguments: ["GET", "HEAD", "OPTIONS", "PUT", "DELETE", "POST", "PATCH", "FOO"])
    func `a curl command retries the same methods`(method: String) async throws {
        let run = try await ToolRun(["fetch", "http://127.0.0.1/", "--curl", "--retry", "2", "-X", method], status: 0)
        let isRetried = ["GET", "HEAD", "OPTIONS", "PUT", "DELETE"].contains(method)
        #expect(run.text.contains("--retry ") == isRetried, "\(run.text)")
    }
}
