import Foundation
import HTTPTypes
import NetworkCore
import NetworkTesting
import TestSupport
import Testing

/// Any value of JSON.
private struct ParameterCheck: Decodable {
    init(from decoder: any Decoder) throws {}
}

private struct Row: Codable, Equatable {
    let id: Int
}

/// A stream whose reader is waited for: it asks for a chunk when it is done with the one before.
private final class PulledChunks: Sendable {
    private let chunks = AsyncStream<Data>.makeStream()
    private let pulls = AsyncStream<Void>.makeStream()

    var stream: AsyncStream<Data> {
        AsyncStream { [chunks, pulls] in
            pulls.continuation.yield()
            var next = chunks.stream.makeAsyncIterator()
            return await next.next()
        }
    }

    /// Waits until the reader asks for a chunk.
    func pull() async {
        var next = pulls.stream.makeAsyncIterator()
        await next.next()
    }

    /// Sends a chunk, and waits until the reader asks for the next one.
    func send(_ text: String) async {
        chunks.continuation.yield(Data(text.utf8))
        await pull()
    }

    func finish() { chunks.continuation.finish() }
}

@Suite(.patience(minutes: 1))
struct StubTransportTests {
    private let stub = StubTransport()
    private let get = RequestData(path: "http://h/rows?page=1", headerFields: ["X-A": "1"])

    /// Regression: a precondition ended the process, and with it all tests.
    @Test(arguments: [1000, 99, -1, .max]) func `a status that is none fails the request`(status: Int) async throws {
        stub.when(.get("/rows"), .status(status))
        let error = await expectFailure(.invalidOption) { try await stub.send(get, as: .data) }
        #expect(error?.message.contains("\(status)") == true)
    }

    @Test func `responses are given in order, each once`() async throws {
        stub.when(.get("/rows"), .status(503), .json([Row(id: 1)]))
        await expectFailure(.unacceptableStatus) { try await stub.send(get, as: .data).body }
        #expect(try await get.send(as: [Row].self, over: stub).body == [Row(id: 1)])
        try stub.checkAllUsed()
        let error = await expectFailure(.notStubbed) { try await stub.send(get, as: .data).body }
        let words = ["GET http://h/rows?…", "GET /rows (2 of 2 responses given)", "is in `sent` of the stub"]
        for word in words { #expect(error?.message.contains(word) == true, "\(String(describing: error))") }
        let failure = #expect(throws: StubFailure.self) { try stub.checkAllUsed() }
        #expect(failure?.problems == ["GET http://h/rows?… was sent and is not stubbed"])
    }

    @Test(arguments: [
        ("/rows", true), ("rows", true), ("/rows?page=1", true), ("rows?page=1", true), ("http://h/rows", true),
        ("http://h:80/rows?page=1", true), ("/rows?page=2", false), ("/rows?", false), ("/Rows", false),
        ("http://i/rows", false), ("https://h/rows", false), ("/rows/", false),
    ])
    func `a stub's path may have a query or be a whole URL`(_ path: String, _ matches: Bool) async throws {
        stub.when(.get(path), .text("one")).when(.path(path), .text("two")).always(.any, .text("other"))
        for text in matches ? ["one", "two", "other"] : ["other"] {
            #expect(try await stub.send(get, as: .text).body == text)
        }
    }

    @Test func `a stub's path may have characters that a URL escapes`() async throws {
        stub.when(.get("/a b/é"), .text("one"))
        #expect(try await stub.send(RequestData(path: "http://h/a b/é"), as: .text).body == "one")
        #expect(StubMatcher.get("/a\u{0}").description == "GET /a\u{0} (which is no path of a URL)")
    }

    @Test func `JSON is a literal of any types, or a value by an encoder of the test's`() async throws {
        struct Person: Codable, Equatable {
            var firstName: String
        }
        let encoder = JSONEncoder()
        encoder.keyEncodingStrategy = .convertToSnakeCase
        stub.when(.any, .json(["id": 1, "tags": ["a", nil], "on": true]), .json([Person(firstName: "Ada")]))
        stub.when(.any, .json(Person(firstName: "Ada"), encoder: encoder), .json([1, 2], status: 201))
        let posted = RequestData(
            path: "http://h/", method: .post, content: .json(Person(firstName: "Bo"), encoder: encoder))
        var texts: [String] = []
        for _ in 0..<4 { texts.append(try await stub.send(posted, as: .text).body) }
        #expect(try JSONDecoder().decode([String: ParameterCheck].self, from: Data(texts[0].utf8)).count == 3)
        #expect(texts.dropFirst() == [#"[{"firstName":"Ada"}]"#, #"{"first_name":"Ada"}"#, "[1,2]"])
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        #expect(try stub.sent.first?.json(Person.self, decoder: decoder) == Person(firstName: "Bo"))
    }

    @Test func `predicates choose in the order of the stubs`() async throws {
        stub.when(.get("/rows").with("page 2") { $0.query == "page=2" }, .text("two"))
        stub.always(.any, .text("any"))
        #expect(try await stub.send(get, as: .data).body == Data("any".utf8))
        #expect(try await stub.send(RequestData(path: "http://h/rows?page=2"), as: .data).body == Data("two".utf8))
        #expect(try await stub.send(RequestData(path: "http://h/rows?page=2"), as: .data).body == Data("any".utf8))
        #expect(
            try await stub.send(RequestData(path: "http://h/", method: .delete), as: .data).body == Data("any".utf8))
        try stub.checkAllUsed()
    }

    @Test func `the responses and requests that are left are listed`() async throws {
        stub.when(.post("/rows"), .status(200), .status(200)).always(.put("/x"), .status(200))
        _ = try await stub.send(RequestData(path: "http://h/rows", method: .post), as: .data).body
        let failure = try #require(throws: StubFailure.self) { try stub.checkAllUsed() }
        #expect(
            failure.description == """
                POST /rows (1 of 2 responses given) was not used up
                PUT /x (always, given 0 times) was not used up
                """)
    }

    @Test func `requests are kept`() async throws {
        stub.always(.any, .status(204))
        _ = try await stub.send(get, as: .data).body
        let content = RequestContent.json([Row(id: 3)])
        _ = try await stub.send(RequestData(path: "http://h/rows", method: .post, content: content), as: .data).body
        #expect(stub.sent.map(\.target) == ["/rows?page=1", "/rows"])
        #expect(stub.sent[0].headerFields[HTTPField.Name("X-A")!] == "1")
        #expect(stub.sent[0].headerFields[.accept] == "*/*")
        #expect(stub.sent[0].body.isEmpty)
        #expect(try stub.sent[1].json([Row].self) == [Row(id: 3)])
        #expect(stub.sent[1].text == #"[{"id":3}]"#)
    }

    @Test func `a failure is the caller's`() async throws {
        struct Own: Error, Equatable {}
        stub.when(.any, .failure(NetworkError.connectTimeout), .failure(Own()))
        let error = await expectFailure(.connectTimeout) { try await stub.send(get, as: .data).body }
        #expect(error?.exchange?.transport == "stub")
        await #expect(throws: Own()) { try await stub.send(get, as: .data).body }
    }

    @Test func `a response is computed from the request`() async throws {
        stub.always(.any, .computed { .text($0.method.rawValue + $0.text, status: 201) })
        let data = RequestData(path: "http://h/", method: .put, content: .text("!"))
        let response = try await NetworkClient(transport: stub).send(data, as: .data)
        #expect(response.status == .created)
        #expect(response.body == Data("PUT!".utf8))
    }

    @Test func `a body comes in pieces`() async throws {
        let pieces = ["a", "", "bc"].map { Data($0.utf8) }
        let broken = NetworkError(.truncatedBody, "cut")
        stub.when(.any, .chunks(pieces), .chunks(pieces, thenFailing: broken), .chunks(pieces, thenFailing: broken))
        let client = NetworkClient(transport: stub)
        var chunks: [Data] = []
        for try await chunk in try await client.send(get, as: .stream).body { chunks.append(chunk) }
        #expect(chunks == [Data("a".utf8), Data("bc".utf8)])
        let body = try await client.send(get, as: .stream).body
        chunks = []
        await expectFailure(.truncatedBody) { for try await chunk in body { chunks.append(chunk) } }
        #expect(chunks.count == 2)
        await expectFailure(.truncatedBody) { try await stub.send(get, as: .data).body }
    }

    @Test func `a body above the limit is refused`() async throws {
        stub.always(.any, .text("12345"))
        var client = NetworkClient(transport: stub)
        client.options.maximumBodyBytes = 4
        await expectFailure(.bodyTooLarge) { try await client.send(get, as: .data).body }
    }

    /// Regression: the matcher ran under the lock that everything it may ask of the dispatcher takes.
    @Test func `a matcher may use the dispatcher`() async throws {
        let stub = StubTransport()
        let asked = StubMatcher("the second request") { request in
            stub.when(.path("/never"), .status(204))
            _ = try? stub.checkAllUsed()
            return stub.sent.count == 2 && request.method == .get
        }
        stub.when(asked, .text("second")).always(.any, .text("other"))
        for expected in ["other", "second", "other"] {
            #expect(try await stub.send(get, as: .data).body == Data(expected.utf8))
        }
    }

    /// Each answer is given once, whatever the matchers of two requests do at the same time.
    @Test func `responses are given once, to many at once`() async throws {
        let stub = StubTransport()
        for _ in 0..<100 { stub.when(.any, .status(200)) }
        let given = try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<100 { group.addTask { _ = try await stub.send(self.get, as: .data) } }
            return try await group.reduce(into: 0) { count, _ in count += 1 }
        }
        #expect(given == 100)
        try stub.checkAllUsed()
    }

    typealias TimeoutPath = any WritableKeyPath<TransportOptions, Duration?> & Sendable

    /// Regression: a streamed body was read without any timeout.
    @Test(
        arguments: [
            (.idleTimeout, \.idleTimeout), (.totalTimeout, \.totalTimeout), (.firstByteTimeout, \.firstByteTimeout),
        ] as [(NetworkError.Code, TimeoutPath)])
    func `a streamed body that stops ends with the timeout`(
        code: NetworkError.Code, limit: TimeoutPath
    ) async throws {
        for chunks in 0...1 {
            let clock = ManualClock()
            let stub = StubTransport(clock: clock).always(.any, .status(200))
            let source = PulledChunks()
            var request = try RequestData(path: "http://h/", method: .post).transportRequest()
            request.body = .stream(source.stream)
            request.options.idleTimeout = nil
            request.options[keyPath: limit] = .seconds(5)
            async let failure = expectFailure(code) { [request] in try await stub.send(request) }
            await source.pull()
            for _ in 0..<chunks { await source.send("a") }
            await clock.waitForSleepers(1)
            clock.advance(by: .seconds(5))
            let error = await failure
            #expect(error?.exchange?.transport == "stub")
            #expect(error?.phase == .waiting)
            #expect(stub.sent.isEmpty)
        }
    }

    @Test func `a streamed body that moves does not reach the idle timeout`() async throws {
        let clock = ManualClock()
        let stub = StubTransport(clock: clock).always(.any, .status(200))
        let source = PulledChunks()
        var request = try RequestData(path: "http://h/", method: .post).transportRequest()
        request.body = .stream(source.stream)
        request.options.idleTimeout = .seconds(5)
        async let response = stub.send(request)
        await source.pull()
        for _ in 0..<4 {
            await clock.waitForSleepers(1)
            clock.advance(by: .seconds(3))
            await source.send("a")
        }
        source.finish()
        #expect(try await response.head.status == .ok)
        #expect(stub.sent.first?.text == "aaaa")
    }

    @Test func `a retry waits on the clock`() async throws {
        let clock = ManualClock()
        let stub = StubTransport(clock: clock).when(.any, .status(503), .text("back"))
        var client = NetworkClient(transport: stub)
        client.interceptors = [.retry(time: TimeSource(clock: clock))]
        async let body = client.send(get, as: .text).body
        await clock.waitForSleepers(1)
        clock.advance(by: .seconds(60))
        #expect(try await body == "back")
        #expect(stub.sent.count == 2)
    }

    @Test func `a delay waits on the clock`() async throws {
        let clock = ManualClock()
        let stub = StubTransport(clock: clock).when(.any, .text("late").after(.seconds(50)))
        async let body = stub.send(get, as: .data).body
        await clock.waitForSleepers(1)
        clock.advance(by: .seconds(49))
        #expect(clock.now.offset == .seconds(49))
        clock.advance(by: .seconds(1))
        #expect(try await body == Data("late".utf8))
    }

    @Test func `a delay beyond a timeout is that timeout`() async throws {
        let clock = ManualClock()
        let stub = StubTransport(clock: clock).always(.any, .text("late").after(.seconds(3600)))
        async let idle = expectFailure(.idleTimeout) { try await stub.send(get, as: .data).body }
        await clock.waitForSleepers(1)
        clock.advance(by: .seconds(60))
        _ = await idle
        var request = try get.transportRequest()
        request.options.idleTimeout = nil
        request.options.firstByteTimeout = .seconds(2)
        async let first = expectFailure(.firstByteTimeout) { [request] in try await stub.send(request) }
        await clock.waitForSleepers(1)
        clock.advance(by: .seconds(2))
        _ = await first
    }

    @Test func `the error of a stub has the time on the clock`() async throws {
        let clock = ManualClock()
        let stub = StubTransport(clock: clock).always(.any, .text("late").after(.seconds(3600)))
        async let error = expectFailure(.idleTimeout) { [get] in try await stub.send(try get.transportRequest()) }
        await clock.waitForSleepers(1)
        clock.advance(by: .seconds(60))
        #expect(await error?.exchange?.elapsed == .seconds(60))
    }

    @Test func `negative counts are none`() {
        #expect(PatternBytes.make(count: -1).isEmpty)
        #expect(PatternBytes.make(count: 2, from: -1) == PatternBytes.make(count: 2))
        #expect(Gzip.zeros(count: -1) == Gzip.zeros(count: 0))
    }

    private func request(_ change: (inout TransportOptions) -> Void) throws -> TransportRequest {
        var request = try get.transportRequest()
        change(&request.options)
        return request
    }

    private func chunks(every interval: Duration) -> StubResponse {
        .chunks(["a", "b", "c"].map { Data($0.utf8) }, every: interval)
    }

    @Test func `a delay within a body is no longer than the idle timeout`() async throws {
        let clock = ManualClock()
        let stub = StubTransport(clock: clock).always(.any, chunks(every: .seconds(61)))
        let body = try await stub.send(try request { $0.idleTimeout = .seconds(60) }).body
        async let error = expectFailure(.idleTimeout) { try await body.collect() }
        await clock.waitForSleepers(1)
        clock.advance(by: .seconds(60))
        let exchange = await error?.exchange
        #expect(exchange?.transport == "stub")
        // An error is thrown once and ends the body.
        await expectFailure(.bodyAlreadyRead) { try await body.collect() }
    }

    @Test func `delays of head and body are no longer than the total timeout`() async throws {
        let clock = ManualClock()
        let stub = StubTransport(clock: clock).always(.any, chunks(every: .seconds(40)).after(.seconds(20)))
        async let response = stub.send(try request { $0.totalTimeout = .seconds(70) })
        await clock.waitForSleepers(1)
        clock.advance(by: .seconds(20))
        let body = try await response.body
        async let first = next(of: body)
        await clock.waitForSleepers(1)
        clock.advance(by: .seconds(40))
        #expect(try await first == Data("a".utf8))
        async let error = expectFailure(.totalTimeout) { try await next(of: body) }
        await clock.waitForSleepers(1)
        clock.advance(by: .seconds(10))
        #expect(await error?.phase == .receiving)
        await expectFailure(.bodyAlreadyRead) { try await next(of: body) }
    }

    private func next(of body: TransportResponse.Body) async throws -> Data? {
        var chunks = body.makeAsyncIterator()
        return try await chunks.next()
    }

    /// As over a network, every read after the timeout fails.
    @Test func `a slow reader is within the total timeout too`() async throws {
        let clock = ManualClock()
        let stub = StubTransport(clock: clock).always(.any, chunks(every: .zero))
        var body = try await stub.send(try request { $0.totalTimeout = .seconds(5) }).body.makeAsyncIterator()
        #expect(try await body.next() == Data("a".utf8))
        clock.advance(by: .seconds(6))
        await expectFailure(.totalTimeout) { try await body.next() }
    }

    @Test func `enough time is enough`() async throws {
        let clock = ManualClock()
        let stub = StubTransport(clock: clock).always(.any, chunks(every: .seconds(2)).after(.seconds(1)))
        let limited = try request { options in
            (options.idleTimeout, options.totalTimeout) = (.seconds(2), .seconds(7))
            options.firstByteTimeout = .seconds(1)
        }
        async let body = stub.send(limited).body.collect()
        for pause in [1, 2, 2, 2] {
            await clock.waitForSleepers(1)
            clock.advance(by: .seconds(pause))
        }
        #expect(try await body == Data("abc".utf8))
    }

    @Test func `cancellation ends a delay within a body`() async throws {
        let clock = ManualClock()
        let stub = StubTransport(clock: clock).always(.any, chunks(every: .seconds(5)))
        let body = try await stub.send(try get.transportRequest()).body
        let task = Task { try await body.collect() }
        await clock.waitForSleepers(1)
        task.cancel()
        await expectFailure(.cancelled) { try await task.value }
    }

    /// A test that exceeds its time limit must not wait for sleepers that never arrive.
    @Test func `cancellation ends the wait for sleepers`() async {
        let clock = ManualClock()
        let waiting = Task { await clock.waitForSleepers(1) }
        waiting.cancel()
        await waiting.value
        let late = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            await clock.waitForSleepers(1)
        }
        await late.value
    }

    @Test func `cancellation ends a delay`() async throws {
        let clock = ManualClock()
        let stub = StubTransport(clock: clock).always(.any, .status(200).after(.seconds(5)))
        let task = Task { try await stub.send(get, as: .data).body }
        await clock.waitForSleepers(1)
        task.cancel()
        await expectFailure(.cancelled) { try await task.value }
    }

    /// Regression: the stub recorded `Content-Encoding: gzip` with the body as it was before.
    @Test func `a body is recorded as it is sent`() async throws {
        stub.always(.any, .status(204))
        let text = String(repeating: "a", count: 10_000)
        let chunks = AsyncStream<Data> { continuation in
            continuation.yield(Data(text.utf8))
            continuation.finish()
        }
        for body in [TransportRequest.Body.bytes(Data(text.utf8)), .stream(chunks)] {
            var request = try TransportRequest(method: .put, to: "http://h/", body: body)
            request.options.requestCompression = .gzip(level: 6)
            _ = try await stub.send(request)
            let sent = try #require(stub.sent.last)
            #expect(sent.headerFields[.contentEncoding] == "gzip")
            #expect(sent.body.starts(with: [0x1F, 0x8B]) && sent.body.count < 1_000, "\(sent.body.count) bytes")
        }
    }

    /// Regression: the stub claimed the capability, and sent neither a second round nor a signature.
    @Test func `credentials that take steps take them over a stub too`() async throws {
        let challenge = #"Digest realm="r", nonce="n", qop="auth""#
        stub.when(.any, .status(401, headerFields: [.wwwAuthenticate: challenge]), .text("in"))
        var request = try TransportRequest(to: "http://h/")
        request.options.authentication = .digest(user: "u", password: "p")
        #expect(try await stub.send(request).body.collect() == Data("in".utf8))
        let rounds = stub.sent.map { $0.headerFields[.authorization]?.prefix(7) }
        #expect(rounds == [nil, "Digest "])
        stub.when(.any, .text("signed"))
        request.options.authentication = .awsSigV4(
            .init(keyID: "id", secretKey: "secret", region: "eu-central-1", service: "s3"))
        #expect(try await stub.send(request).body.collect() == Data("signed".utf8))
        #expect(stub.sent.last?.headerFields[.authorization]?.hasPrefix("AWS4-HMAC-SHA256 ") == true)
    }

    @Test func `a request beyond the stub's capabilities is refused`() async throws {
        let stub = StubTransport(lacking: [.bodyOnGet])
        let data = RequestData(path: "http://h/", content: .text("x"))
        await expectFailure(.unsupported) { try await stub.send(data, as: .data).body }
        #expect(stub.sent.isEmpty)
    }

    @Test func `the clock wakes in order and forgets the cancelled`() async throws {
        let clock = ManualClock()
        let (woken, wake) = AsyncStream<Int>.makeStream()
        let sleepers = [3, 1, 2].map { seconds in
            Task {
                try await clock.sleep(for: .seconds(seconds))
                wake.yield(seconds)
            }
        }
        await clock.waitForSleepers(3)
        var order = woken.makeAsyncIterator()
        for step in 1...3 {
            clock.advance(by: .seconds(1))
            #expect(await order.next() == step)
        }
        for sleeper in sleepers { try await sleeper.value }
        try await clock.sleep(until: clock.now)
        let task = Task { try await clock.sleep(for: .seconds(1)) }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
    }
}
