import CurlTransport
import Foundation
import HTTPTypes
import InMemoryTracing
import NetworkLayer
import NetworkTesting
import Synchronization
import Testing
import Tracing

@testable import NetworkTelemetry

/// The spans of a call and of its exchanges.
@Suite("Tracing")
struct TracingTests {
    private let tracer = InMemoryTracer(idGenerator: .incrementing)

    private var spans: [FinishedInMemorySpan] { tracer.finishedSpans }
    private var exchanges: [FinishedInMemorySpan] { spans.filter { $0.kind == .client } }
    private var calls: [FinishedInMemorySpan] { spans.filter { $0.kind == .internal } }

    private func client(over transport: any HTTPTransport, baseURL: String? = "http://h:81/v1") -> NetworkClient {
        NetworkClient(transport: transport, baseURL: baseURL).traced(by: tracer)
    }

    @Test func `a call has a span, and its exchange one below it`() async throws {
        let stub = StubTransport(always: .text("hello"))
        let request = RequestData(path: "users/{id}", pathParameters: ["id": "a/b"], query: ["key": "secret"])
        _ = try await client(over: stub).send(request, as: .text)
        let (call, exchange) = (try #require(calls.first), try #require(exchanges.first))
        #expect(spans.count == 2 && exchange.parentSpanID == call.spanID && call.parentSpanID == nil)
        #expect([call, exchange].map(\.operationName) == ["GET /users/{id}", "GET /users/{id}"])
        for (key, value) in [
            "http.request.method": "GET", "url.full": "http://h:81/v1/users/a%2Fb?…", "server.address": "h",
            "url.template": "/users/{id}",
        ] as [String: SpanAttribute] {
            #expect(exchange.attributes.get(key) == value && call.attributes.get(key) == value, "\(key)")
        }
        #expect(exchange.attributes.get("server.port") == .int64(81))
        #expect(exchange.attributes.get("http.response.status_code") == .int64(200))
        #expect(exchange.attributes.get("http.request.resend_count") == nil)
        #expect(exchange.attributes.get("error.type") == nil && exchange.status == nil)
    }

    @Test func `attempts and redirects are children of one call`() async throws {
        let stub = StubTransport()
        stub.when(.get("/a"), .status(503), .status(302, headerFields: [.location: "/b"]))
        stub.when(.get("/b"), .text("there"))
        var client = client(over: stub, baseURL: "http://h")
        var policy = RetryInterceptor.Policy()
        policy.baseDelay = .zero
        client.interceptors.append(.retry(policy))
        _ = try await client.send(RequestData(path: "/{page}", pathParameters: ["page": "a"]), as: .text)
        let call = try #require(calls.first)
        #expect(calls.count == 1 && exchanges.allSatisfy { $0.parentSpanID == call.spanID })
        #expect(exchanges.map { $0.attributes.get("http.request.resend_count") } == [nil, .int64(1), .int64(2)])
        #expect(exchanges.map { $0.attributes.get("http.response.status_code") } == [503, 302, 200].map { .int64($0) })
        // The path after a redirect is not the template's.
        #expect(exchanges.map(\.operationName) == ["GET /{page}", "GET /{page}", "GET"])
        #expect(exchanges.map { $0.attributes.get("error.type") } == ["503", nil, nil])
        #expect(exchanges.map { $0.status?.code } == [.error, nil, nil] && call.status == nil)
        #expect(call.attributes.get("networklayer.attempts") == .int64(2))
        #expect(call.attributes.get("networklayer.redirects") == .int64(1))
    }

    @Test func `a failure ends both spans with its code, and with no secret`() async throws {
        let stub = StubTransport(always: .failure(NetworkError(.connectFailed, "no connection")))
        await #expect(throws: NetworkError.self) {
            try await client(over: stub).send(RequestData(path: "a?token=s3cr3t"), as: .text)
        }
        #expect(spans.count == 2)
        for span in spans {
            #expect(span.attributes.get("error.type") == "connectFailed" && span.status?.code == .error)
            #expect(span.status?.message?.contains("s3cr3t") == false)
        }
    }

    @Test func `a refused status is the error of both spans`() async throws {
        let stub = StubTransport(always: .status(404))
        _ = try? await client(over: stub).send(RequestData(path: "a"), as: .text)
        #expect(spans.map { $0.attributes.get("error.type") } == ["404", "404"])
        #expect(spans.map { $0.attributes.get("http.response.status_code") } == [.int64(404), .int64(404)])
    }

    @Test func `a span ends with the body of its response, read or released`() async throws {
        let stub = StubTransport(always: .chunks([Data("one".utf8), Data("two".utf8)]))
        let client = client(over: stub)
        do {
            let response = try await client.send(RequestData(path: "a"), as: .stream)
            #expect(spans.isEmpty && tracer.activeSpans.count == 2)
            for try await _ in response.body {}
            #expect(spans.count == 2 && tracer.activeSpans.isEmpty)
        }
        do {
            let response = try await client.send(RequestData(path: "a"), as: .stream)
            #expect(tracer.activeSpans.count == 2 && response.status.code == 200)
        }
        #expect(spans.count == 4 && tracer.activeSpans.isEmpty)
    }

    @Test func `the context of the exchange goes to the server, in place of the request's`() async throws {
        let stub = StubTransport(always: .text(""))
        var client = client(over: stub)
        client.headerFields[HTTPField.Name(InMemoryTracer.spanIDKey)!] = "the caller's"
        _ = try await client.send(RequestData(path: "a"), as: .text)
        let exchange = try #require(exchanges.first)
        #expect(stub.sent[0].values(of: InMemoryTracer.spanIDKey) == [exchange.spanID])
        #expect(stub.sent[0].values(of: InMemoryTracer.traceIDKey) == [exchange.traceID])
    }

    @Test func `a span of the caller is the parent, and a second tracer replaces the first`() async throws {
        let other = InMemoryTracer()
        let client = client(over: StubTransport(always: .text(""))).traced(by: other).traced(by: tracer)
        try await tracer.withSpan("caller") { caller in
            _ = try await client.send(RequestData(path: "a"), as: .text)
            #expect(calls.first?.parentSpanID == caller.spanID)
        }
        #expect(other.finishedSpans.isEmpty && exchanges.count == 1)
    }

    private struct Witness: Interceptor {
        let seen: @Sendable (String?) -> Void

        func intercept(_ request: TransportRequest, in call: Call, next: Next) async throws -> TransportResponse {
            seen(ServiceContext.current?.inMemorySpanContext?.spanID)
            return try await next(request)
        }
    }

    @Test func `interceptors see the context of the call`() async throws {
        let seen = Mutex<[String?]>([])
        var client = client(over: StubTransport(always: .text("")))
        let witness = Witness { id in seen.withLock { $0.append(id) } }
        client.interceptors.append(witness)
        client.exchangeInterceptors.insert(witness, at: 0)
        _ = try await client.send(RequestData(path: "a"), as: .text)
        let call = try #require(calls.first)
        #expect(seen.withLock(\.self) == [call.spanID, call.spanID])
    }

    @Test(arguments: TransportKind.allCases, [nil, 3])
    func `the stream of a request's body sees the context of the exchange`(
        over kind: TransportKind, length: Int?
    ) async throws {
        let seen = Mutex<Set<String?>>([])
        try await withServer(.ok("")) { server in
            let stream = TransportRequest.Body.replayableStream(length: length) {
                seen.withLock { _ = $0.insert(ServiceContext.current?.inMemorySpanContext?.spanID) }
                return AsyncStream<Data> { chunks in
                    chunks.yield(Data("abc".utf8))
                    chunks.finish()
                }
            }
            let request = RequestData(
                path: server.url(), method: .post, content: .body(stream, contentType: "text/plain"))
            _ = try await client(over: kind.transport, baseURL: nil).send(request, as: .text)
        }
        let exchange = try #require(exchanges.first)
        #expect(seen.withLock(\.self) == [exchange.spanID])
    }

    @Test(arguments: TransportKind.allCases)
    func `phases are events in their order`(over kind: TransportKind) async throws {
        let body = String(repeating: "x", count: 100_000)
        try await withServer([
            .forEachRequest([
                .send(Script.head(200, fields: [("Content-Length", "2")])),
                .send("ok"),
            ])
        ]) { server in
            let dispatcher: any HTTPTransport = kind == .curl ? CurlNetworkDispatcher() : kind.transport
            let client = client(over: dispatcher, baseURL: server.baseURL)
            for _ in 0..<2 {
                let request = RequestData(path: "a", method: .post, content: .text(body))
                _ = try await client.send(request, as: .text)
            }
        }
        #expect(exchanges.count == 2)
        for span in exchanges {
            let times =
                [span.startInstant.nanosecondsSinceEpoch] + span.events.map(\.nanosecondsSinceEpoch)
                + [span.endInstant.nanosecondsSinceEpoch]
            #expect(times == times.sorted(), "\(span.events)")
        }
        guard kind == .curl else { return }
        #expect(exchanges[0].events.map(\.name) == ["queue", "name", "tcp", "request sent", "first byte"])
        #expect(exchanges[1].events.map(\.name) == ["queue", "request sent", "first byte"])
        #expect(exchanges[1].attributes.get("networklayer.connection.reused") == .bool(true))
        #expect(exchanges[0].attributes.get("network.protocol.version") == "1.1")
        #expect(exchanges[0].attributes.get("network.peer.address") == "127.0.0.1")
        #expect(exchanges[0].attributes.get("http.request.body.size") == .int64(100_000))
    }
}

extension SentRequest {
    fileprivate func values(of name: String) -> [String] {
        HTTPField.Name(name).map { headerFields[values: $0] } ?? []
    }
}
