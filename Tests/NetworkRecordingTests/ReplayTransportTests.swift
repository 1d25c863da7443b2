import Foundation
import NetworkCore
import NetworkRecording
import NetworkTesting
import TestSupport
import Testing

@Suite(.patience(minutes: 1))
struct ReplayTransportTests {
    /// Returns an entry; later numbers began later.
    private func entry(
        _ number: Int, _ url: String = "http://h/a", method: HTTPRequest.Method = .get, fields: HTTPFields = [:],
        body: String? = nil
    ) -> Recording.Entry {
        Recording.Entry(
            started: Date(timeIntervalSince1970: Double(number)),
            request: .init(method: method, url: url, headerFields: fields, body: body.map { .init(Data($0.utf8)) }),
            response: .init(status: 200, body: .init(Data("\(number)".utf8))))
    }

    private func text(_ transport: some HTTPTransport, _ url: String = "http://h/a") async throws -> String {
        String(decoding: try await transport.get(url).body, as: UTF8.self)
    }

    @Test func `entries are given in the order in which they began, each once`() async throws {
        let transport = ReplayTransport(
            Recording(entries: [entry(3), entry(1), entry(2, "http://h/b"), entry(2)]))
        #expect(try await text(transport) == "1")
        #expect(try await text(transport, "http://h/b") == "2")
        #expect(try await text(transport) == "2")
        let failure = try #require(throws: ReplayFailure.self) { try transport.checkAllUsed() }
        #expect(failure.problems == ["GET http://h/a was recorded and not sent"])
        #expect(try await text(transport) == "3")
        try transport.checkAllUsed()
        await expectFailure(.notRecorded) { try await text(transport) }
        #expect(throws: ReplayFailure.self) { try transport.checkAllUsed() }
    }

    @Test func `the last entry can be repeated`() async throws {
        let transport = ReplayTransport(Recording(entries: [entry(1), entry(2)]), repeatsLast: true)
        var texts: [String] = []
        for _ in 0..<4 { texts.append(try await text(transport)) }
        #expect(texts == ["1", "2", "2", "2"])
        await expectFailure(.notRecorded) { try await text(transport, "http://h/b") }
    }

    @Test func `a request that is not recorded is named with the nearest entries`() async throws {
        let transport = ReplayTransport(
            Recording(entries: [
                entry(1, "http://other/x"), entry(2, "http://h/a?page=1"), entry(3, method: .post), entry(4),
                entry(5, "http://h/b"),
            ]))
        _ = try await text(transport)
        let error = await expectFailure(.notRecorded) { try await text(transport, "http://h/a?token=canary") }
        let message = try #require(error?.message)
        for words in [
            "GET http://h/a?… is not recorded", "GET http://h/a?… (another query)", "GET http://h/a (another query)",
            "POST http://h/a (another method)", "and 2 others",
        ] {
            #expect(message.contains(words), "\(message)")
        }
        #expect(!message.contains("canary"))
        #expect(error?.exchange?.transport == "replay")
        let again = await expectFailure(.notRecorded) { try await text(transport) }
        #expect(again?.message.contains("GET http://h/a (given already)") == true)
        let empty = await expectFailure(.notRecorded) { try await text(ReplayTransport(Recording())) }
        #expect(empty?.message.hasSuffix("recorded are: nothing") == true)
    }

    @Test func `strict matching compares fields and the body too`() async throws {
        let name = HTTPField.Name("X-A")!
        let entries = [
            entry(1, method: .post, fields: [name: "1", .userAgent: "other", .contentType: "text/plain"], body: "x")
        ]
        func send(_ fields: HTTPFields, _ body: String, _ matching: ReplayTransport.Matching) async throws {
            var fields = fields
            fields[.contentType] = "text/plain"
            let transport = ReplayTransport(Recording(entries: entries), matching: matching)
            try await transport.get("http://h/a", method: .post, fields: fields, body: body)
        }
        try await send([:], "y", .methodAndURL)
        try await send([name: "1"], "x", .strict)
        let fieldError = await expectFailure(.notRecorded) { try await send([name: "2"], "x", .strict) }
        #expect(fieldError?.message.contains("another field x-a") == true)
        let bodyError = await expectFailure(.notRecorded) { try await send([name: "1"], "y", .strict) }
        #expect(bodyError?.message.contains("another body") == true)
    }

    @Test func `secrets are left out of both sides before they are compared`() async throws {
        let memory = RecordingMemory()
        let recorder = RecordingTransport(StubTransport(always: .text("fine")), to: memory, options: .allBodies)
        func send(_ secret: String, over transport: some HTTPTransport) async throws {
            try await transport.get(
                "http://h/?token=\(secret)", method: .post,
                fields: [.authorization: secret, .contentType: "application/json"],
                body: "{\"password\":\"\(secret)\",\"a\":1}")
        }
        try await send("one", over: recorder)
        let recording = try Recording(har: await memory.recording().harText(bodies: .all))
        try await send("two", over: ReplayTransport(recording, matching: .strict))
    }

    @Test func `the boundary of a multipart body may differ`() async throws {
        let memory = RecordingMemory()
        let recorder = RecordingTransport(StubTransport(always: .text("fine")), to: memory, options: .allBodies)
        func send(_ boundary: String, _ value: String, over transport: some HTTPTransport) async throws {
            try await transport.get(
                "http://h/", method: .post, fields: [.contentType: "multipart/form-data; boundary=\(boundary)"],
                body:
                    "--\(boundary)\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\n\(value)\r\n--\(boundary)--\r\n"
            )
        }
        try await send("one", "1", over: recorder)
        let recording = await memory.recording()
        try await send("another", "1", over: ReplayTransport(recording, matching: .strict))
        await expectFailure(.notRecorded) {
            try await send("another", "2", over: ReplayTransport(recording, matching: .strict))
        }
    }

    /// Its length is all that is known.
    @Test func `a body that was left out is matched by its length`() async throws {
        let memory = RecordingMemory()
        let recorder = RecordingTransport(StubTransport(always: .text("fine")), to: memory)
        try await recorder.get("http://h/", method: .post, fields: [.contentType: "text/plain"], body: "some text")
        let recording = try Recording(har: await memory.recording().harText())
        #expect(recording.entries.first?.request.body == .init(omitted: 9))
        for (body, isFound) in [("some text", true), ("more text", true), ("text", false)] {
            let replay = ReplayTransport(recording, matching: .strict)
            let error = await #expect(throws: NetworkError.self) {
                try await replay.get("http://h/", method: .post, fields: [.contentType: "text/plain"], body: body)
            }
            // The response is a text too.
            #expect(error?.message.contains("RecordingTransport.Options(bodies: .all)") == isFound)
        }
    }

    @Test func `a rule of the caller decides`() async throws {
        let byPath = ReplayTransport.Matching.rule("by path") { request, entry in
            (try? RequestURL(request.url).path) == (try? RequestURL(entry.request.url).path)
        }
        let transport = ReplayTransport(Recording(entries: [entry(1), entry(2)]), matching: byPath)
        #expect(try await text(transport, "https://i/a?x") == "1")
        #expect(try await text(transport, "https://i/a?y") == "2")
        let error = await expectFailure(.notRecorded) { try await text(transport, "http://h/a") }
        #expect(error?.message.contains("given already") == true)
    }

    @Test func `a streamed request is read, and its length is checked`() async throws {
        let stream = AsyncStream<Data> { continuation in
            for text in ["a", "b"] { continuation.yield(Data(text.utf8)) }
            continuation.finish()
        }
        let transport = ReplayTransport(
            Recording(entries: [entry(1, method: .post, body: "ab")]), matching: .strict)
        let request = try TransportRequest(method: .post, to: "http://h/a", body: .stream(stream, length: 3))
        await expectFailure(.bodyLengthMismatch) { try await transport.send(request) }
        let file = try TemporaryFolder()
        try Data("ab".utf8).write(to: URL(fileURLWithPath: file.file("body")))
        let upload = try TransportRequest(method: .post, to: "http://h/a", body: .file(file.file("body")))
        #expect(try await transport.send(upload).status == .ok)
    }

    @Test func `concurrent requests have an entry each`() async throws {
        let transport = ReplayTransport(Recording(entries: (0..<100).map { entry($0) }))
        let texts = try await withThrowingTaskGroup(of: String.self) { group in
            for _ in 0..<100 { group.addTask { try await text(transport) } }
            return try await group.reduce(into: Set<String>()) { $0.insert($1) }
        }
        #expect(texts.count == 100)
        try transport.checkAllUsed()
    }

    @Test func `what a program puts into an entry is no trap`() async throws {
        var broken = entry(1)
        broken.response?.status = 5000
        broken.started = Date(timeIntervalSince1970: .nan)
        await expectFailure(.invalidRecording) { try await text(ReplayTransport(Recording(entries: [broken]))) }
        expectFailure(.invalidRecording) { try Recording(har: Recording(entries: [broken]).harText()) }
        var odd = entry(12)
        odd.response?.chunks = [.init(time: .seconds(-1), count: -5), .init(time: .zero, count: .max)]
        odd.response?.body.omitted = -3
        odd.metrics.total = .seconds(Int64.min)
        #expect(try await text(ReplayTransport(Recording(entries: [odd]), timing: .recorded)) == "12")
        _ = Recording(entries: [odd]).harText()
        #expect(Recording.Response(status: -1).status == 999)
    }

    @Test func `a collected body has the request's limit`() async throws {
        let transport = ReplayTransport(Recording(entries: [entry(1234)]))
        var request = try TransportRequest(to: "http://h/a")
        request.options.maximumBodyBytes = 3
        await expectFailure(.bodyTooLarge) { try await transport.send(request).body.collect() }
    }
}
