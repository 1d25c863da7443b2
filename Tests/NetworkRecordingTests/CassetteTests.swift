import Foundation
import NetworkCore
import NetworkLayer
import NetworkRecording
import NetworkTesting
import TestSupport
import Testing

@Suite(.patience(minutes: 1))
struct CassetteTests {
    private let stub = StubTransport()
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func text(_ transport: some HTTPTransport) async throws -> String {
        String(decoding: try await transport.get("http://h/a").body, as: UTF8.self)
    }

    private func cassette(_ mode: Cassette.Mode) throws -> Cassette {
        try Cassette(folder.file(), over: stub, options: .allBodies, mode: mode)
    }

    @Test func `once records a file that does not exist and replays it from then on`() async throws {
        stub.when(.any, .text("first"))
        let recording = try Cassette(folder.file("new/test.har"), over: stub, options: .allBodies, mode: .once)
        #expect(recording.isRecording)
        #expect(recording.name == "stub")
        #expect(try await text(recording) == "first")
        try await recording.close()
        try recording.checkAllUsed()
        let replay = try Cassette(folder.file("new/test.har"), over: stub, options: .allBodies, mode: .once)
        #expect(!replay.isRecording)
        #expect(replay.name == "replay")
        #expect(throws: ReplayFailure.self) { try replay.checkAllUsed() }
        #expect(try await text(replay) == "first")
        try replay.checkAllUsed()
        try await replay.close()
        #expect(stub.sent.count == 1)
    }

    /// With the default options, a page has no body in the file, and the error of its replay names the option.
    @Test func `a page is recorded when that is asked for`() async throws {
        let page = StubResponse.text("<p>canary</p>", headerFields: [.contentType: "text/html"])
        stub.when(.any, page, page)
        for isKept in [true, false] {
            let folder = try TemporaryFolder()
            let options = isKept ? RecordingTransport.Options(bodies: .all) : .init()
            let recording = try Cassette(folder.file(), over: stub, options: options, mode: .once)
            #expect(try await text(recording) == "<p>canary</p>")
            try await recording.close()
            #expect(try folder.text().contains("canary") == isKept)
            let replay = try Cassette(folder.file(), over: stub, options: options, mode: .never)
            if isKept {
                #expect(try await text(replay) == "<p>canary</p>")
            } else {
                let error = await expectFailure(.notRecorded) { try await text(replay) }
                #expect(error?.message.contains("RecordingTransport.Options(bodies: .all)") == true)
            }
        }
    }

    @Test func `always records anew`() async throws {
        stub.when(.any, .text("first"), .text("second"))
        for expected in ["first", "second"] {
            let cassette = try cassette(.always)
            #expect(try await text(cassette) == expected)
            try await cassette.close()
        }
        let entries = try Recording(contentsOf: folder.file()).entries
        #expect(entries.map(\.response?.body.text) == ["second"])
    }

    @Test func `never replays a file, and fails without one`() async throws {
        let error = expectFailure(.notRecorded) { try cassette(.never) }
        #expect(error?.message.contains("test.har") == true)
        stub.when(.any, .text("first"))
        let recording = try cassette(.once)
        _ = try await text(recording)
        try await recording.close()
        #expect(try await text(cassette(.never)) == "first")
        try Data("{".utf8).write(to: URL(fileURLWithPath: folder.file()))
        expectFailure(.invalidRecording) { try cassette(.never) }
    }

    /// `mktemp` makes an empty file, and a link may lead to it.
    @Test(arguments: [false, true])
    func `an empty file is recorded`(isLinked: Bool) async throws {
        let file = URL(filePath: folder.file())
        try Data().write(to: file)
        let path = isLinked ? folder.file("link.har") : folder.file()
        if isLinked { try FileManager.default.createSymbolicLink(at: URL(filePath: path), withDestinationURL: file) }
        stub.when(.any, .text("first"))
        let recording = try Cassette(path, over: stub, options: .allBodies, mode: .once)
        #expect(try await text(recording) == "first")
        try await recording.close()
        #expect(try await text(Cassette(path, over: stub, options: .allBodies, mode: .never)) == "first")
    }

    /// Replayed, the exchanges that are missing would look like a fault of the code under test.
    @Test func `a recording of a test that ended early is not replayed`() async throws {
        stub.when(.any, .text("first"), .text("second"), .text("anew"))
        do {
            let file = try RecordingFile(folder.file())
            let transport = RecordingTransport(stub, to: file, options: .allBodies)
            for _ in 0..<2 { _ = try await text(transport) }
            try await file.flush()
        }
        let error = expectFailure(.invalidRecording) { try cassette(.never) }
        #expect(error?.message.contains("ended before close()") == true)
        // It stays readable, and says of itself what it is wherever it goes.
        let recording = try Recording(contentsOf: folder.file())
        #expect(recording.entries.count == 2)
        #expect(try Recording(har: recording.harText()).isIncomplete)
        // Regression: the first run of a test while its server was down left a file that each later run refused.
        let anew = try cassette(.once)
        #expect(anew.isRecording)
        let busy = expectFailure(.unwritableFile) { try cassette(.once) }
        #expect(busy?.description.contains("another recording is writing it") == true)
        expectFailure(.unwritableFile) { try cassette(.always) }
        _ = try await text(anew)
        try await anew.close()
        #expect(try await text(cassette(.once)) == "anew")
    }

    /// Regression: a recording beyond its limit ended without an error, and was made anew by each run.
    @Test func `a recording that lacks exchanges is an error`() async throws {
        stub.when(.any, .text(String(repeating: "x", count: 1_000)), .text(String(repeating: "y", count: 10_000)))
        let cassette = try Cassette(folder.file(), over: stub, options: .allBodies, mode: .once, maximumBytes: 5_000)
        for _ in 0..<2 { _ = try await text(cassette) }
        let error = await expectFailure(.unwritableFile) { try await cassette.close() }
        #expect(error?.message.contains("lacks exchanges (1)") == true)
    }

    // MARK: What a recording leaves out is not missed

    /// Returns a server that responds twice, over one connection or two.
    private func server(_ first: Data, _ second: Data) throws -> ScriptedServer {
        try ScriptedServer(scripts: [
            [.read, .send(first), .read, .send(second), .stall], [.read, .send(second), .stall],
        ])
    }

    private func response(_ text: String, _ status: Int = 200, _ field: (String, String)? = nil) -> Data {
        let fields = [("Content-Length", "\(text.utf8.count)")] + (field.map { [$0] } ?? [])
        return Script.head(status, fields: fields) + Data(text.utf8)
    }

    /// Returns what a program makes of a call, first recorded and then replayed without the server.
    private func both<Value: Sendable>(
        _ server: ScriptedServer, matching: ReplayTransport.Matching = .methodAndURL,
        _ call: (NetworkClient, String) async throws -> Value
    ) async throws -> [Value] {
        var values: [Value] = []
        for isRecording in [true, false] {
            let cassette = try Cassette(
                folder.file(), over: CurlNetworkDispatcher.shared, matching: matching, options: .allBodies,
                mode: .once)
            #expect(cassette.isRecording == isRecording)
            values.append(try await call(NetworkClient(transport: cassette), server.url("/a")))
            try await cassette.close()
            try cassette.checkAllUsed()
            server.stop()
        }
        return values
    }

    @Test(arguments: [ReplayTransport.Matching.methodAndURL, .strict])
    func `a challenge is replayed`(matching: ReplayTransport.Matching) async throws {
        let challenge = #"Digest realm="r", nonce="n", qop="auth", algorithm=SHA-256"#
        let server = try server(response("", 401, ("WWW-Authenticate", challenge)), response("secret page"))
        let texts = try await both(server, matching: matching) { client, url in
            var request = try TransportRequest(to: url)
            request.options.authentication = .digest(user: "u", password: "p")
            return try await client.send(request, as: .text).body
        }
        #expect(texts == ["secret page", "secret page"])
    }

    @Test(arguments: [ReplayTransport.Matching.methodAndURL, .strict])
    func `cookies are not missed`(matching: ReplayTransport.Matching) async throws {
        let server = try server(response("first", 200, ("Set-Cookie", "sid=1")), response("second"))
        let texts = try await both(server, matching: matching) { client, url in
            let client = client.with { $0.cookieJar = CookieJar(publicSuffixes: .builtIn) }
            let first = try await client.send(RequestData(path: url), as: .text).body
            return try await first + client.send(RequestData(path: url), as: .text).body
        }
        #expect(texts == ["firstsecond", "firstsecond"])
    }

    @Test func `members with a secret name keep their type`() async throws {
        struct Usage: Decodable, Sendable, Equatable {
            let prompt_tokens: Int
            let hasPassword: Bool
            let tokens: [String]
            let session: [String: Int]
            let token: String
        }
        let server = try ScriptedServer(
            .ok(#"{"prompt_tokens":12,"hasPassword":true,"tokens":["a"],"session":{"a":1},"token":"x"}"#))
        let usages = try await both(server) { client, url in
            try await client.send(RequestData(path: url), as: Usage.self).body
        }
        #expect(usages.first?.prompt_tokens == 12)
        #expect(
            usages.last == Usage(prompt_tokens: 0, hasPassword: true, tokens: [], session: [:], token: "REDACTED"))
    }

    /// The token that a replay finds is the mark, which must be one that a client can send.
    @Test(arguments: [ReplayTransport.Matching.methodAndURL, .strict])
    func `a token is renewed in a replay as in the recording`(matching: ReplayTransport.Matching) async throws {
        struct Issued: Decodable, Sendable {
            let access_token: String
        }
        let server = try ScriptedServer([
            .read, .send(response(#"{"access_token":"t1"}"#)), .read,
            .send(response("", 401, ("WWW-Authenticate", "Bearer"))), .read,
            .send(response(#"{"access_token":"t2"}"#)), .read, .send(response("page")), .stall,
        ])
        let texts = try await both(server, matching: matching) { client, url in
            let origin = try RequestURL(url)
            let base = "\(origin.scheme)://\(origin.authority)"
            let bearer = try BearerAuthentication(for: [base]) { _ in
                .init(try await client.send(RequestData(path: base + "/token"), as: Issued.self).body.access_token)
            }
            let client = client.with { $0.exchangeInterceptors = [bearer] }
            return try await client.send(RequestData(path: url), as: .text).body
        }
        #expect(texts == ["page", "page"])
    }

    @Test func `a file has the length that was recorded`() async throws {
        let server = try ScriptedServer(.ok(#"{"token":"a long secret","a":1}"#))
        let texts = try await both(server) { client, url in
            let folder = try TemporaryFolder()
            _ = try await client.send(RequestData(path: url), as: .file(folder.file("body")))
            return try folder.text("body")
        }
        #expect(texts == [#"{"token":"a long secret","a":1}"#, #"{"token":"REDACTED","a":1}"#])
    }

    @Test func `the environment selects the mode`() throws {
        #expect(try Cassette.Mode.selected(in: [:]) == .once)
        for mode in Cassette.Mode.allCases {
            #expect(try Cassette.Mode.selected(in: ["NETWORK_RECORD": mode.rawValue]) == mode)
        }
        for value in ["", "Once", "yes", "always "] {
            let error = expectFailure(.invalidConfiguration) {
                try Cassette.Mode.selected(in: ["NETWORK_RECORD": value])
            }
            #expect(error?.message == "NETWORK_RECORD is '\(value)'; it must be 'once', 'always' or 'never'")
        }
    }

    @Test func `a test over curl runs without the server the second time`() async throws {
        let server = try ScriptedServer(.ok(#"[{"name":"Ada"}]"#))
        struct User: Decodable { let name: String }
        let request = RequestData(path: server.url("/users"))
        for isRecording in [true, false] {
            let transport = try Cassette(folder.file(), over: CurlNetworkDispatcher.shared, mode: .once)
            let users = try await transport.send(request, as: [User].self).body
            #expect(users.map(\.name) == ["Ada"])
            #expect(transport.isRecording == isRecording)
            try await transport.close()
            server.stop()
        }
    }
}
