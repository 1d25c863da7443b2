import Foundation
import Logging
import Synchronization
import TestSupport
import Testing

@testable import NetworkCore

@Suite(.patience(minutes: 1))
struct InterceptorTests {
    private typealias Answer = AnsweringTransport.Answer

    /// A step that records when a call passes it.
    private struct Step: Interceptor {
        let name: String
        let passed: Recorder

        func intercept(_ request: TransportRequest, in call: Call, next: Next) async throws -> TransportResponse {
            passed.note("\(name)>")
            let response = try await next(request)
            passed.note("<\(name)")
            return response
        }
    }

    private final class Recorder: Sendable {
        private let lines = Guarded<[String]>([])
        var all: [String] { lines.withLock { $0 } }
        func note(_ line: String) { lines.withLock { $0.append(line) } }
    }

    @Test func `steps are in their order, once a call and once an exchange`() async throws {
        let passed = Recorder()
        var client = NetworkClient(transport: AnsweringTransport(.redirect(to: "/2"), Answer()))
        client.interceptors = [Step(name: "a", passed: passed), Step(name: "b", passed: passed)]
        client.exchangeInterceptors = [Step(name: "x", passed: passed), Step(name: "y", passed: passed)]
        _ = try await client.send(try .make(.get, "http://h/1"), as: .stream)
        let exchange = ["x>", "y>", "<y", "<x"]
        #expect(passed.all == ["a>", "b>"] + exchange + exchange + ["<b", "<a"])
    }

    @Test func `a response without sending is the response`() async throws {
        struct Cached: Interceptor {
            func intercept(_ request: TransportRequest, in call: Call, next: Next)
                async throws -> TransportResponse
            {
                TransportResponse(head: HTTPResponse(status: .ok), body: TransportResponse.Body(Data("kept".utf8)))
            }
        }
        let transport = AnsweringTransport(Answer())
        var client = NetworkClient(transport: transport)
        client.interceptors = [Cached()]
        #expect(try await client.send(RequestData(path: "http://h/"), as: .data).body == Data("kept".utf8))
        #expect(transport.requests.isEmpty)
    }

    @Test func `default fields are added where they are missing`() async throws {
        let transport = AnsweringTransport(.redirect(to: "http://other/"), Answer())
        var client = NetworkClient(transport: transport)
        let key = try #require(HTTPField.Name("X-Api-Key"))
        client.headerFields = [.acceptLanguage: "de", .accept: "a/b", key: "secret"]
        _ = try await client.send(try .make(.get, "http://h/", fields: [.accept: "own/one"]), as: .stream)
        #expect(transport.requests.map { $0.headerFields[.accept] } == ["own/one", "own/one"])
        #expect(transport.requests.map { $0.headerFields[.acceptLanguage] } == ["de", "de"])
        #expect(transport.requests.map { $0.headerFields[key] } == ["secret", nil])
    }

    @Test func `Accept is the request's, or the client's, or the decoder's`() async throws {
        let transport = AnsweringTransport(Answer(body: "1"))
        var client = NetworkClient(transport: transport)
        let own = RequestData(path: "http://h/", headerFields: ["Accept": "own/one"])
        _ = try await client.send(RequestData(path: "http://h/"), as: Int.self)
        _ = try await client.send(own, as: Int.self)
        client.headerFields = [.accept: "client/one"]
        _ = try await client.send(RequestData(path: "http://h/"), as: Int.self)
        _ = try await client.send(own, as: Int.self)
        client.headerFields = [:]
        _ = try await client.send(RequestData(path: "http://h/"), as: .data)
        #expect(
            transport.requests.map { $0.headerFields[.accept] }
                == ["application/json", "own/one", "client/one", "own/one", nil])
    }

    /// Otherwise a whole URL from outside would receive the credentials.
    @Test func `secret default fields go to the base alone`() async throws {
        let transport = AnsweringTransport(Answer())
        var client = NetworkClient(transport: transport, baseURL: "http://h/v1")
        client.headerFields = [.authorization: "secret", .acceptLanguage: "de"]
        for request in [RequestData(path: "users"), RequestData(url: "http://other/"), RequestData(url: "http://h/x")] {
            _ = try await client.send(request, as: .data)
        }
        #expect(transport.requests.map(\.url.absoluteString) == ["http://h/v1/users", "http://other/", "http://h/x"])
        #expect(transport.requests.map { $0.headerFields[.authorization] } == ["secret", nil, "secret"])
        #expect(transport.requests.map { $0.headerFields[.acceptLanguage] } == ["de", "de", "de"])
        await expectFailure(.invalidURL) { try await client.send(RequestData(path: "http://other/"), as: .data) }
    }

    @Test func `adapters change what passes`() async throws {
        let transport = AnsweringTransport(Answer(status: 404))
        var client = NetworkClient(transport: transport)
        client.interceptors.append(.adapting { request in request.headerFields[.acceptLanguage] = "fr" })
        client.interceptors.append(.adaptingResponse { response in response.head.status = .ok })
        #expect(try await client.send(RequestData(path: "http://h/"), as: .data).status == .ok)
        #expect(transport.requests.first?.headerFields[.acceptLanguage] == "fr")

        struct Refused: Error {}
        client.interceptors = [.adapting { _ in throw Refused() }]
        let refusing = client
        await #expect(throws: Refused.self) { try await refusing.send(RequestData(path: "http://h/"), as: .data) }
    }

    /// Regression: the limit of a collected body was that of the request before the interceptors.
    @Test(arguments: [(10, true), (1_000, false)])
    func `an interceptor may change the limit of the body`(limit: Int, isTooLarge: Bool) async throws {
        let transport = AnsweringTransport(Answer(body: String(repeating: "x", count: 100)))
        var client = NetworkClient(transport: transport)
        client.options.maximumBodyBytes = 50
        client.exchangeInterceptors = [.adapting { $0.options.maximumBodyBytes = limit }]
        do {
            _ = try await client.send(try .make(.get, "http://a/"), as: .data)
            #expect(!isTooLarge)
        } catch let error as NetworkError {
            #expect(isTooLarge && error.code == .bodyTooLarge, "\(error)")
        }
    }

    /// Regression: a reader that began before its cancellation read a small rest to its end.
    @Test func `the end of a response reads nothing`() async throws {
        final class Source: TransportResponse.BodySource {
            let readings = Guarded<[Bool]>([])
            var metrics: TransportMetrics { TransportMetrics(total: .zero) }
            var trailers: HTTPFields? { nil }
            func next() async throws -> Data? { nil }
            func collect(upTo limit: Int?) async throws -> Data {
                readings.withLock { $0.append(Task.isCancelled) }
                return Data()
            }
        }
        let source = Source()
        let response = TransportResponse(
            head: HTTPResponse(status: .ok), body: .init(source: source as any TransportResponse.BodySource))
        for _ in 0..<500 { await response.end() }
        #expect(source.readings.withLock { $0 } == Array(repeating: true, count: 500))
    }

    @Test func `cookies go along with each exchange`() async throws {
        let transport = AnsweringTransport { request in
            guard request.url.path == "/login" else { return Answer() }
            var fields: HTTPFields = [.location: "http://b/in"]
            fields.append(HTTPField(name: .setCookie, value: "sid=secret; Path=/"))
            return Answer(status: 302, fields: fields)
        }
        var client = NetworkClient(transport: transport)
        _ = try await client.send(try .make(.get, "http://a/login"), as: .stream)
        client.cookieJar = CookieJar()
        _ = try await client.send(try .make(.get, "http://a/login", fields: [.cookie: "own=1"]), as: .stream)
        _ = try await client.send(try .make(.get, "http://a/x", fields: [.cookie: "own=1"]), as: .stream)
        #expect(
            transport.requests.map { $0.headerFields[.cookie] } == [nil, nil, "own=1", nil, "own=1; sid=secret"])
    }

    @Test func `the log tells of exchanges without secrets`() async throws {
        let lines = Recorder()
        let key = try #require(HTTPField.Name("X-Own"))
        var logger = Logger(label: "test") { _ in RecordingLog(note: lines.note) }
        logger.logLevel = .debug
        var client = NetworkClient(
            transport: AnsweringTransport(Answer(status: 404, fields: [.setCookie: "secret", .server: "srv"])))
        client.interceptors = [.logging(logger, secretFields: [key])]
        let fields: HTTPFields = [.authorization: "secret", .cookie: "secret", key: "secret", .accept: "shown"]
        _ = try await client.send(try .make(.get, "http://h/p?token=secret", fields: fields), as: .stream)
        let line = try #require(lines.all.first)
        #expect(line.hasPrefix("info: GET http://h/p?…: 404 in "))
        for word in ["shown", "srv", "attempt", "Authorization"] { #expect(line.contains(word)) }
        #expect(!line.contains("secret"))
    }

    /// Covers tokens in fields with other names, and queries in other URLs than the request's.
    @Test func `the log shows no tokens and no queries of fields`() async throws {
        let lines = Recorder()
        var logger = Logger(label: "test") { _ in RecordingLog(note: lines.note) }
        logger.logLevel = .debug
        let fields: HTTPFields = [
            .location: "http://shown-1/a?code=secret", .contentLocation: "/shown-2#access=secret", .server: "what?",
        ]
        var client = NetworkClient(transport: AnsweringTransport(Answer(status: 200, fields: fields)))
        client.interceptors = [.logging(logger)]
        let token = try #require(HTTPField.Name("X-Amz-Security-Token"))
        let referer = try #require(HTTPField.Name("Referer"))
        let sent: HTTPFields = [token: "secret", referer: "http://shown-3/?key=secret"]
        _ = try await client.send(try .make(.get, "http://h/", fields: sent), as: .stream)
        let line = try #require(lines.all.first)
        #expect(!line.contains("secret"))
        for word in ["shown-1/a?…", "shown-2#…", "shown-3/?…", "what?"] { #expect(line.contains(word), "\(line)") }
    }

    /// An error of a caller's own transport may contain anything.
    @Test func `a log has no words of foreign errors`() async throws {
        struct Foreign: Error { let token = "secret" }
        let lines = Recorder()
        var logger = Logger(label: "test") { _ in RecordingLog(note: lines.note) }
        logger.logLevel = .debug
        var client = NetworkClient(transport: AnsweringTransport { _ in throw Foreign() })
        client.exchangeInterceptors = [.logging(logger)]
        let sender = client
        await #expect(throws: Foreign.self) { try await sender.send(try .make(.get, "http://h/"), as: .stream) }
        #expect(lines.all.count == 1)
        #expect(lines.all.first?.contains(": Foreign") == true)
        #expect(lines.all.first?.contains("secret") == false)
    }

    @Test func `the log's metadata has what programs search for, and header fields in their order`() async throws {
        let metadata = Recorder()
        var logger = Logger(label: "test") { _ in
            RecordingLog { _ in
            } data: {
                metadata.note($0)
            }
        }
        logger.logLevel = .debug
        let response = Answer(status: 404, fields: [.server: "a", .vary: "b", .date: "c", .age: "d", .server: "e"])
        var client = NetworkClient(transport: AnsweringTransport(response))
        client.interceptors = [.logging(logger, level: .debug)]
        _ = try await client.send(try .make(.put, "http://h/p?q=1", fields: [.te: "1", .accept: "2"]), as: .stream)
        let line = try #require(metadata.all.first)
        #expect(line.contains("http.request.method=PUT; http.response.status_code=404; "))
        #expect(line.contains("url.full=http://h/p?…"))
        #expect(line.contains("; request=[\"TE: 1\", \"Accept: 2\"]"), "\(line)")
        #expect(line.contains(#"response=["Server: a", "Vary: b", "Date: c", "Age: d", "Server: e"]"#), "\(line)")
        let duration = try #require(line.split(separator: "; ").first { $0.hasPrefix("http.client.request.duration=") })
        #expect(duration.contains(/=\d+\.\d{6}$/))
    }

    @Test func `without a logger of its own, the log takes the task's, with its metadata`() async throws {
        let (lines, metadata) = (Recorder(), Recorder())
        let logger = Logger(label: "test") { _ in RecordingLog(note: lines.note, data: { metadata.note($0) }) }
        let client = NetworkClient(transport: AnsweringTransport(Answer(status: 200))).with {
            // The deadline makes the steps run in a task of their own.
            $0.options.totalTimeout = .seconds(60)
            $0.interceptors = [.logging()]
        }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for user in 1...2 {
                group.addTask {
                    try await withLogger(logger) { _ in
                        try await withLogger(mergingMetadata: ["handled": "\(user)"]) { _ in
                            let data = RequestData(path: "http://h/users/{id}", pathParameters: ["id": "\(user)"])
                            _ = try await client.send(data, as: .data)
                        }
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(lines.all.count == 2)
        for user in 1...2 {
            let line = try #require(metadata.all.first { $0.contains("url.full=http://h/users/\(user)") })
            #expect(line.contains("handled=\(user)") && line.contains("url.template=/users/{id}"), "\(line)")
        }
    }

    @Test func `a failure's level and code are in the log`() async throws {
        let lines = Recorder()
        let metadata = Recorder()
        let logger = Logger(label: "test") { _ in RecordingLog(note: lines.note, data: { metadata.note($0) }) }
        var client = NetworkClient(transport: AnsweringTransport { _ in throw NetworkError(.connectFailed, "down") })
        client.interceptors = [.logging(logger, failureLevel: .error)]
        let sender = client
        await expectFailure(.connectFailed) { try await sender.send(try .make(.get, "http://h/"), as: .stream) }
        #expect(lines.all.first?.hasPrefix("error: GET http://h/: failed after ") == true)
        #expect(metadata.all.first?.contains("error.type=connectFailed") == true)
    }

    /// Regression: at the deadline, a step within the call sees that it is cancelled.
    @Test(arguments: [true, false]) func `the log warns of a call that took too long`(isCall: Bool) async throws {
        let (lines, metadata) = (Recorder(), Recorder())
        let logger = Logger(label: "test") { _ in RecordingLog(note: lines.note, data: { metadata.note($0) }) }
        var client = NetworkClient(
            transport: AnsweringTransport { _ in
                do { try await Task.sleep(for: .seconds(3600)) } catch { throw NetworkError.cancelled }
                return Answer()
            })
        // The call has to reach the log within it.
        client.options.totalTimeout = .seconds(patienceFactor)
        if isCall { client.interceptors = [.logging(logger)] } else { client.exchangeInterceptors = [.logging(logger)] }
        let sender = client
        await expectFailure(.totalTimeout) { try await sender.send(RequestData(path: "http://h/"), as: .data) }
        #expect(lines.all.first?.hasPrefix("warning: GET http://h/: failed after ") == true, "\(lines.all)")
        #expect(metadata.all.first?.contains("error.type=totalTimeout") == true)
    }

    @Test(arguments: [(499, "info"), (500, "warning"), (503, "warning")])
    func `the log warns of a server that fails`(status: Int, level: String) async throws {
        let lines = Recorder()
        let logger = Logger(label: "test") { _ in RecordingLog(note: lines.note) }
        let client = NetworkClient(transport: AnsweringTransport(Answer(status: status))).with {
            $0.interceptors = [.logging(logger)]
        }
        await expectFailure(.unacceptableStatus) { try await client.send(RequestData(path: "http://h/"), as: .data) }
        #expect(lines.all.first?.hasPrefix("\(level): GET http://h/: \(status) in ") == true, "\(lines.all)")
    }

    @Test func `the log warns of failures`() async throws {
        let lines = Recorder()
        let logger = Logger(label: "test") { _ in RecordingLog(note: lines.note) }
        var client = NetworkClient(transport: AnsweringTransport { _ in throw NetworkError(.connectFailed, "down") })
        client.exchangeInterceptors = [.logging(logger)]
        let sender = client
        await expectFailure(.connectFailed) { try await sender.send(try .make(.get, "http://h/?secret"), as: .stream) }
        #expect(lines.all.count == 1)
        #expect(lines.all.first?.hasPrefix("warning: GET http://h/?…: failed after ") == true)
        #expect(lines.all.first?.contains("connectFailed") == true)
    }
}

/// A log handler that passes its messages to a test.
private struct RecordingLog: LogHandler {
    let note: @Sendable (String) -> Void
    var data: @Sendable (String) -> Void = { _ in }
    var logLevel = Logger.Level.info
    var metadata: Logger.Metadata = [:]

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        note("\(event.level): \(event.message) \(event.metadata ?? [:])")
        let all = metadata.merging(event.metadata ?? [:]) { $1 }
        data(all.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }.joined(separator: "; "))
    }
}
