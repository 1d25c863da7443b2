import Foundation
import HTTPTypes
import NetworkCore
import NetworkTesting
import Synchronization
import TestSupport
import Testing

/// Any value of JSON.
private struct ParameterCheck: Decodable {
    init(from decoder: any Decoder) throws {}
}

private struct Row: Codable, Equatable {
    let id: Int
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

    @Test func `negative counts are none`() {
        #expect(PatternBytes.make(count: -1).isEmpty)
        #expect(PatternBytes.make(count: 2, from: -1) == PatternBytes.make(count: 2))
        #expect(Gzip.zeros(count: -1) == Gzip.zeros(count: 0))
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

    @Test func `interim responses and trailer fields are those of a real transport`() async throws {
        let stub = StubTransport()
        let hint = HTTPResponse(status: .init(code: 103), headerFields: [.init("Link")!: "</a>"])
        stub.when(.post("/"), .text("page").after(interim: hint).after(.zero))
        let heads = Guarded<[HTTPResponse]>([])
        var data = RequestData(
            path: "http://h/", method: .post,
            content: .bytes(Data("body".utf8)).followed(byTrailers: { [.init("X-A")!: "1"] }))
        data.interimResponse = { head in heads.withLock { $0.append(head) } }
        #expect(try await NetworkClient(transport: stub).send(data, as: .text).body == "page")
        #expect(heads.withLock(\.self) == [hint])
        #expect(stub.sent.map(\.trailers) == [[.init("X-A")!: "1"]] && stub.sent.map(\.text) == ["body"])
        let lacking = NetworkClient(transport: StubTransport(lacking: [.requestTrailers]))
        await expectFailure(.unsupported) { try await lacking.send(data, as: .text) }
    }
}
