import CurlTransport
import Foundation
import NetworkCore
import NetworkTesting
import TestSupport
import Testing

private let hasCurl = ["/usr/bin/curl", "/usr/local/bin/curl", "/bin/curl"].contains {
    FileManager.default.isExecutableFile(atPath: $0)
}

/// Checks that the command of a request, run by a shell, puts the same bytes on the wire as the transport.
@Suite(.patience(minutes: 1), .enabled(if: hasCurl, "needs curl: scripts/setup-tests"))
struct CurlCommandTests {
    struct Case: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var method = HTTPRequest.Method.get
        var path = "/"
        var fields: [(String, String)] = []
        var body: Data?
        var configure: @Sendable (inout TransportOptions) -> Void = { _ in }
    }

    static let cases = [
        Case(testDescription: "plain"),
        Case(testDescription: "query and brackets", path: "/a/../b[1]/{c}?q=a+b&x=%20'$HOME&[]={1-3}"),
        Case(testDescription: "HEAD", method: .head),
        Case(testDescription: "POST without a body", method: .post),
        Case(testDescription: "DELETE without a body", method: .delete),
        Case(testDescription: "OPTIONS", method: .options),
        Case(testDescription: "own method", method: HTTPRequest.Method("PURGE")!),
        Case(
            testDescription: "header fields",
            fields: [
                ("X-Empty", ""), ("X-Quote", "it's \"$HOME\" `id` \\ !x"), ("X-Twice", "1"), ("X-Twice", "2"),
                ("X-Unicode", "grüße"), ("Accept", "text/x"), ("User-Agent", "me"), ("Cookie", "a=b; c=d"),
                ("Host", "other.example"),
            ]
        ),
        Case(
            testDescription: "JSON", method: .post, fields: [("Content-Type", "application/json")],
            body: Data("{}".utf8)),
        Case(testDescription: "body without a type", method: .put, body: Data("a=b&c='d'\n".utf8)),
        Case(testDescription: "empty body", method: .post, body: Data()),
        Case(testDescription: "body that looks like a file", method: .post, body: Data("@/etc/hostname".utf8)),
        Case(testDescription: "body that looks like an option", method: .post, body: Data("-d %s %% \\n \\\\".utf8)),
        Case(testDescription: "every byte", method: .post, body: Data(0...255) + Data("-%\\'\r\n".utf8)),
        Case(testDescription: "bytes that begin with a dash", method: .post, body: Data("-\u{0}".utf8)),
        Case(testDescription: "body on GET", method: .get, body: Data("x".utf8)),
        Case(
            testDescription: "large body", method: .post,
            body: Data((0..<300_000).map { UInt8(truncatingIfNeeded: $0) })),
        Case(testDescription: "large text", method: .post, body: Data(repeating: 0x61, count: 100_000)),
        Case(
            testDescription: "packed body",
            method: .post,
            body: Data(repeating: 0x61, count: 5000),
            configure: { $0.requestCompression = .gzip(level: 6) }
        ),
        Case(testDescription: "basic", configure: { $0.authentication = .basic(user: "me", password: "a'b") }),
        Case(testDescription: "HTTP/1.0", configure: { $0.httpVersion = .http1_0 }),
        Case(testDescription: "HTTP/1.1", configure: { $0.httpVersion = .http1_1 }),
        Case(testDescription: "not decompressed", configure: { $0.decompress = false }),
        Case(testDescription: "timeouts", configure: { $0.totalTimeout = .seconds(20) }),
    ]

    @Test(arguments: cases) func `a command sends the same bytes`(trial: Case) async throws {
        try await withServer([.read, .send("HTTP/1.1 204 No Content\r\n\r\n"), .close]) { server in
            var request = try TransportRequest(
                method: trial.method, to: server.url(trial.path), body: trial.body.map { .bytes($0) })
            for (name, value) in trial.fields {
                request.headerFields.append(try HTTPField(checking: name, value: value))
            }
            trial.configure(&request.options)
            _ = try await CurlNetworkDispatcher.shared.send(request).body.collect()
            let command = request.curlCommand(secrets: .revealed)
            #expect(try await shell(command) == 0, "\(command.prefix(2000))")

            #expect(server.requests.count == 2)
            let (ours, theirs) = (try #require(server.requests.first), try #require(server.requests.last))
            #expect(ours.head == theirs.head)
            #expect(ours.body == theirs.body)
        }
    }

    private func shell(_ command: String) async throws -> Int32 {
        let file = FileManager.default.temporaryDirectory.appending(path: "networklayer-\(UUID().uuidString).sh")
        try Data((command + "\n").utf8).write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        let process = Process()
        process.executableURL = URL(filePath: "/bin/sh")
        process.arguments = [file.path]
        // The system's curl needs the system's libcurl, whichever one the tests are over.
        process.environment = ProcessInfo.processInfo.environment.filter { $0.key != "LD_LIBRARY_PATH" }
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        return try await withCheckedThrowingContinuation { continuation in
            process.terminationHandler = { continuation.resume(returning: $0.terminationStatus) }
            do { try process.run() } catch { continuation.resume(throwing: error) }
        }
    }
}
