import Foundation
import NetworkCore
import NetworkTesting
import TestSupport
import Testing

private struct User: Codable, Equatable {
    let id: Int
    let name: String
}

private struct GetUsers: RequestType {
    typealias ResponseType = [User]
    var data: RequestData { RequestData(path: "http://127.0.0.1/users", parameters: ["page": 1]) }
}

@Suite(.patience(minutes: 1))
struct NetworkClientTests {
    private let users = #"[{"id":1,"name":"Ada"},{"id":2,"name":"Bo"}]"#

    @Test func `a typed response has value, status and fields`() async throws {
        let stub = StubTransport(
            always: .text(users, status: 201, headerFields: [.server: "s"]).after(.milliseconds(3)))
        let response = try await GetUsers().send(over: stub)
        #expect(response.body == [User(id: 1, name: "Ada"), User(id: 2, name: "Bo")])
        #expect(response.status == .created)
        #expect(response.headerFields[.server] == "s")
        #expect(response.metrics.total == .milliseconds(3))
        #expect(stub.sent.map(\.url.absoluteString) == ["http://127.0.0.1/users?page=1"])
    }

    @Test func `a copy with another transport is the same client`() async throws {
        let (first, second) = (StubTransport(always: .text("first")), StubTransport(always: .text("second")))
        let client = NetworkClient(transport: first, baseURL: "http://h/v1").with { $0.headerFields[.userAgent] = "me" }
        let other = client.with { $0.transport = second }
        #expect(try await other.send(RequestData(path: "users"), as: .text).body == "second")
        #expect(second.sent.map(\.url.absoluteString) == ["http://h/v1/users"])
        #expect(second.sent.first?.headerFields[.userAgent] == "me" && first.sent.isEmpty)
    }

    @Test func `a curl command has what the client adds`() throws {
        let client = NetworkClient(transport: StubTransport(), baseURL: "http://h/v1").with {
            $0.headerFields[.userAgent] = "me"
            $0.options.connectTimeout = .seconds(3)
            $0.options.authentication = .bearer(token: "secret")
        }
        let command = try client.curlCommand(
            RequestData(path: "users", parameters: ["page": 2]), as: .decoded([User].self))
        for word in ["http://h/v1/users?page=REDACTED", "'User-Agent: me'", "--connect-timeout 3", "application/json"] {
            #expect(command.contains(word), "\(command)")
        }
        #expect(!command.contains("secret"))
        #expect(try client.curlCommand(RequestData(path: "users"), secrets: .revealed).contains("Bearer secret"))
        expectFailure(.invalidURL) { try client.with { $0.baseURL = nil }.curlCommand(RequestData(path: "users")) }
    }

    @Test func `Foundation's URL is a whole URL`() async throws {
        let stub = StubTransport(always: .text("x"))
        let client = NetworkClient(transport: stub, baseURL: "http://other/")
        let url = try #require(URL(string: "http://h/a?b=c"))
        _ = try await client.send(RequestData(url: url, query: ["d": "e"]), as: .text)
        _ = try await stub.send(TransportRequest(url: try RequestURL(url)), as: .text)
        #expect(stub.sent.map(\.url.absoluteString) == ["http://h/a?b=c&d=e", "http://h/a?b=c"])
        expectFailure(.invalidURL) { try RequestURL(try #require(URL(string: "/a"))) }
    }

    /// Regression: a part of another range was taken for the one that was asked for.
    @Test(
        arguments: [
            ("bytes=5-9", "bytes 5-9/10", true), ("bytes=5-9", "bytes 0-4/10", false),
            ("bytes=5-", "bytes 5-9/10", true),
            ("bytes=5-", "bytes 6-9/10", false), ("bytes=5-9", nil, true), ("bytes=-5", "bytes 5-9/10", true),
            ("bytes=0-1,4-5", nil, true), ("lines=1-2", nil, true), (nil, "bytes 0-4/10", false),
        ] as [(String?, String?, Bool)])
    func `a part is the one that was asked for`(range: String?, part: String?, isRight: Bool) async throws {
        var fields: HTTPFields = [:]
        fields[.contentRange] = part
        let client = NetworkClient(transport: StubTransport(always: .text("01234", status: 206, headerFields: fields)))
        let request = RequestData(url: "http://h/", headerFields: range.map { ["Range": $0] } ?? [:])
        if isRight {
            #expect(try await client.send(request, as: .text).body == "01234")
        } else {
            let error = await expectFailure(.unacceptableStatus) { try await client.send(request, as: .text) }
            #expect(error?.message.contains(range ?? "the whole") == true)
        }
    }

    @Test func `a call by closures can be cancelled`() async throws {
        let isAsked = Gate()
        let stub = StubTransport(
            always: .computed { _ in
                isAsked.open()
                return .text("[]").after(.seconds(1_000))
            })
        let outcome: any Error = try await withCheckedThrowingContinuation { continuation in
            let task = GetUsers().execute(
                dispatcher: stub, queue: .global(),
                onSuccess: { _ in continuation.resume(throwing: NetworkError(.unclassified, "it was not cancelled")) },
                onError: { continuation.resume(returning: $0) })
            Task {
                try await isAsked.wait()
                task.cancel()
            }
        }
        #expect(outcome is CancellationError)
    }

    @Test func `bytes and text are forms, and as types they are JSON`() async throws {
        let client = NetworkClient(transport: StubTransport(always: .text("plain")), baseURL: "http://h")
        let data = await expectFailure(.decodingFailed) { try await client.send(RequestData(path: "/"), as: Data.self) }
        #expect(data?.message.hasSuffix("write .data in place of Data.self") == true)
        let text = await expectFailure(.decodingFailed) {
            try await client.send(RequestData(path: "/"), as: String.self)
        }
        #expect(text?.message.hasSuffix("write .text in place of String.self") == true)
    }

    @Test func `the body of a refused response is a value too`() async throws {
        let client = NetworkClient(transport: StubTransport(always: .json(["id": 1, "name": "x"], status: 422)))
        let error = await expectFailure(.unacceptableStatus) {
            try await client.send(RequestData(path: "http://h/"), as: .text)
        }
        let response = try #require(error?.response)
        #expect(try response.decoded(as: User.self) == User(id: 1, name: "x"))
        expectFailure(.decodingFailed) { try response.decoded(as: [User].self) }
        let decoder = ClosureResponseDecoder { _, body in User(id: body.count, name: "closure") }
        #expect(try response.decoded(as: User.self, by: decoder).name == "closure")
    }

    /// Regression: a client whose decoder converts the case of keys had failures and events that it could not decode.
    @Test func `failures and events are decoded by their client's decoder`() async throws {
        let chunk = Data("data: x\n\n".utf8)
        let events = StubTransport(always: .chunks([chunk], headerFields: [.contentType: "text/event-stream"]))
        let failure = StubTransport(always: .text("x", status: 422))
        let decoder = ClosureResponseDecoder { _, body in User(id: body.count, name: "closure") }
        let error = await expectFailure(.unacceptableStatus) {
            try await NetworkClient(transport: failure).with { $0.decoder = decoder }
                .send(RequestData(path: "http://h/"), as: .text)
        }
        #expect(try error?.response?.decoded(as: User.self).name == "closure")
        let client = NetworkClient(transport: events).with { $0.decoder = decoder }
        let stream = try await client.send(RequestData(path: "http://h/"), as: .events).body
        let event = try #require(try await stream.first { _ in true })
        #expect(try event.decoded(as: User.self).name == "closure")
        // The decoder is no part of the event.
        #expect(event == ServerSentEvents.Event(data: "x") && !"\(event)".contains("ecoder"))
    }

    /// A value that can't be meant fails the call before anything is sent.
    @Test func `negative limits of the pipeline are refused`() async throws {
        let stub = StubTransport(always: .status(200))
        let client = NetworkClient(transport: stub, baseURL: "http://h")
        var policy = RetryInterceptor.Policy()
        policy.maximumRetries = -1
        let clients = [
            client.with { $0.redirectPolicy.maximumRedirects = -1 }, client.with { $0.interceptors = [.retry(policy)] },
        ]
        for client in clients {
            await expectFailure(.invalidOption) { try await client.send(RequestData(path: "/"), as: .data) }
        }
        expectFailure(.invalidOption) { try BearerAuthentication(for: [], token: "t") }
        expectFailure(.invalidOption) { try BearerAuthentication(for: []) { _ in "t" } }
        #expect(stub.sent.isEmpty)
    }

    @Test(arguments: [200, 299]) func `a status of 2xx is a value`(status: Int) async throws {
        #expect(
            try await GetUsers().send(over: StubTransport(always: .text(users, status: status))).body.count == 2)
    }

    @Test(arguments: [199, 300, 302, 304, 400, 401, 404, 500, 599])
    func `another status is an error with the response`(status: Int) async throws {
        let stub = StubTransport(always: .text("sorry", status: status, headerFields: [.server: "s"]))
        let error = try await #require(throws: NetworkError.self) { _ = try await GetUsers().send(over: stub).body }
        #expect(error.code == .unacceptableStatus)
        #expect(error.response?.status.code == status)
        #expect(error.response?.headerFields[.server] == "s")
        #expect(error.response?.body == Data("sorry".utf8))
        #expect(error.exchange?.transport == "stub")
    }

    @Test(
        arguments: [
            (#"[{"id":1,"name":"a"},{"id":2,"name":3}]"#, "[1].name", "String was expected"),
            (#"[{"id":1}]"#, "[0].name", "'name' is missing"),
            (#"[{"id":1,"name":null}]"#, "[0].name", "null where"),
            (#"{"id":1}"#, "", "was expected"),
            ("<html>", "", "not valid"),
            ("[", "", "not valid"),
        ]
    )
    func `an undecodable body is an error that shows where`(body: String, path: String, reason: String) async throws {
        let stub = StubTransport(always: .text(body))
        let error = try await #require(throws: NetworkError.self) {
            _ = try await GetUsers().send(over: stub)
        }
        #expect(error.code == .decodingFailed)
        let decoding = try #require(error.decoding)
        #expect(decoding.type.contains("User"))
        #expect(decoding.codingPath == path)
        #expect(decoding.reason.contains(reason), "\(decoding.reason)")
        #expect(decoding.bodyStart == body)
        #expect(error.response?.body == Data(body.utf8))
        // The type's name contains a bracket too.
        #expect(body == "[" || !error.description.contains(body))
        #expect(error.unredactedDescription.contains(body))
    }

    @Test func `the body's start is short and printable`() async throws {
        let stub = StubTransport(always: .text("\u{1B}[31m\u{0}" + String(repeating: "x", count: 2000)))
        let error = try await #require(throws: NetworkError.self) { _ = try await GetUsers().send(over: stub).body }
        let start = try #require(error.decoding?.bodyStart)
        #expect(start.hasPrefix("\\u{1B}[31m\\0xxx"))
        #expect(start.hasSuffix("… (2006 bytes)"))
        #expect(start.count < 600)
    }

    @Test func `an empty body is no data`() async throws {
        await expectFailure(.noData) {
            _ = try await GetUsers().send(over: StubTransport(always: .text(""))).body
        }
        let error = try await #require(throws: NetworkError.self) {
            _ = try await GetUsers().send(over: StubTransport(always: .status(204)))
        }
        #expect(error.code == .noData)
        #expect(error.response?.status == .noContent)
    }

    @Test func `a body above the limit is refused`() async throws {
        var client = NetworkClient(transport: StubTransport(always: .text("12345")))
        client.options.maximumBodyBytes = 5
        #expect(try await client.send(GetUsers().data, as: .data).body == Data("12345".utf8))
        client.options.maximumBodyBytes = 4
        await expectFailure(.bodyTooLarge) { try await client.send(GetUsers().data, as: .data).body }
    }

    @Test func `options reach the transport`() async throws {
        let stub = StubTransport(always: .text(users))
        var client = NetworkClient(transport: stub)
        client.options.totalTimeout = .seconds(500)
        _ = try await GetUsers().send(over: client)
        // The rest of the call's time.
        let total = try #require(stub.sent.first?.options.totalTimeout)
        #expect((.seconds(400) ... .seconds(500)).contains(total))
        client.options.idleTimeout = .seconds(-5)
        await expectFailure(.invalidOption) { try await client.send(GetUsers().data, as: .data).body }
    }

    @Test func `a response body is a sequence of chunks`() async throws {
        var chunks: [Data] = []
        for try await chunk in TransportResponse.Body(Data("abc".utf8)) { chunks.append(chunk) }
        #expect(chunks.reduce(Data(), +) == Data("abc".utf8))
        for try await _ in TransportResponse.Body(Data()) { Issue.record("expected no chunk") }
    }
}
