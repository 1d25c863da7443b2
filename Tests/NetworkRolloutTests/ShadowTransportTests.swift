import Foundation
import NetworkLayer
import NetworkTesting
import Synchronization
import Testing
import TestSupport

@testable import NetworkRollout

/// The differences that were reported.
private final class Differences: Sendable {
    private let list = Guarded<[ShadowTransport.Difference]>([])

    func add(_ difference: ShadowTransport.Difference) { list.withLock { $0.append(difference) } }
    var all: [ShadowTransport.Difference] { list.withLock { $0 } }
    var places: [String] { all.flatMap(\.places).map(\.name) }
}

@Suite(.patience(minutes: 1))
struct ShadowTransportTests {
    private let url: RequestURL
    private let differences = Differences()
    private var always = ShadowTransport.Options()

    init() throws {
        url = try RequestURL("http://example.test/users?token=classified")
        always.share = 1
        always.maximumLoad = 1
    }

    private func transport(
        _ primary: any HTTPTransport, _ shadow: any HTTPTransport, _ options: ShadowTransport.Options? = nil
    ) -> ShadowTransport {
        ShadowTransport(primary: primary, shadow: shadow, options: options ?? always) { [differences] in
            differences.add($0)
        }
    }

    /// Sends a GET, reads its body, and waits for the shadow.
    @discardableResult
    private func get(_ transport: ShadowTransport) async throws -> Data { try await transport.settledGet(url) }

    // MARK: What is compared

    @Test func `the same responses are counted, and nothing is reported`() async throws {
        let transport = transport(StubTransport(always: .json([1])), StubTransport(always: .json([1])))
        for _ in 0..<5 { #expect(try await get(transport) == Data("[1]".utf8)) }
        #expect(differences.all.isEmpty)
        let counts = transport.counts
        #expect(counts.requests == 5 && counts.shadowed == 5 && counts.same == 5)
    }

    @Test func `each part that differs is reported, and the response is the primary's`() async throws {
        let transport = transport(
            StubTransport(
                always: .text(#"{"a":1,"b":2}"#, headerFields: [.contentType: "application/json", .server: "x"])),
            StubTransport(
                always: .text(#"{"a":1,"b":3}"#, headerFields: [.contentType: "application/json", .server: "y"])))
        #expect(try await get(transport) == Data(#"{"a":1,"b":2}"#.utf8))
        let difference = try #require(differences.all.first)
        #expect(difference.places.map(\.name) == ["field:server", "json:/b"])
        #expect(difference.places.last?.primary == "'2'" && difference.places.last?.shadow == "'3'")
        #expect(difference.primary?.body == Data(#"{"a":1,"b":2}"#.utf8) && difference.primary?.isWhole == true)
        #expect(difference.shadow?.head.headerFields[.server] == "y")
        #expect(!difference.isKnown && transport.counts.differences == 1)
        #expect(!difference.description.contains("classified"))
    }

    @Test func `places that are ignored are no difference`() async throws {
        var options = always
        options.ignoredPlaces = ["field:server"]
        let transport = transport(
            StubTransport(always: .text("x", headerFields: [.server: "x"])),
            StubTransport(always: .text("x", headerFields: [.server: "y"])), options)
        try await get(transport)
        #expect(transport.counts.same == 1 && differences.all.isEmpty)
    }

    @Test func `places are ignored in JSON beyond the limit, too, and others are found there`() async throws {
        func response(_ time: Int, _ value: Int) -> StubTransport {
            let rest = (0..<2_000).map { #"{"id":\#($0)}"# }.joined(separator: ",")
            let text = #"{"time":\#(time),"value":\#(value),"list":[\#(rest)]}"#
            return StubTransport(always: .text(text, headerFields: [.contentType: "application/json"]))
        }
        var options = always
        (options.ignoredPlaces, options.maximumComparedBytes) = (["json:/time"], 10_000)
        let same = transport(response(1, 1), response(10_000, 1), options)
        try await get(same)
        #expect(same.counts.same == 1, "\(differences.places)")
        try await get(transport(response(1, 1), response(10_000, 2), options))
        #expect(differences.places == ["json:/value"])
    }

    /// The head of a primary may take long: a shadow that waits for it has no place, and is none.
    @Test func `a request whose primary waits has no shadow yet`() async throws {
        let (gate, open) = AsyncStream<Void>.makeStream()
        let primary = ClosureTransport { _ in
            for await _ in gate { break }
            throw NetworkError(.totalTimeout, "late", phase: .queued)
        }
        let transport = transport(primary, StubTransport(always: .text("x")))
        let request = TransportRequest(url: url)
        let sending = Task { try await transport.send(request) }
        while transport.counts.requests == 0, !Task.isCancelled { await Task.yield() }
        await transport.settle()
        #expect(transport.counts.shadowed == 0)
        open.yield()
        await #expect(throws: NetworkError.self) { try await sending.value }
        #expect(transport.counts.shadowed == 0 && transport.counts.unfinished == 0)
    }

    /// Regression: the wait had no deadline of its own, and took as long as the shadow's transport liked.
    @Test(arguments: ["timeout", "cancellation"])
    func `a shadow that ignores its cancellation holds no wait up`(_ end: String) async throws {
        let (gate, open) = AsyncStream<Void>.makeStream()
        // A task of its own is not cancelled with the shadow.
        let stuck = ClosureTransport { _ in
            await Task { for await _ in gate { break } }.value
            throw NetworkError(.totalTimeout, "late", phase: .queued)
        }
        var options = always
        options.timeout = end == "timeout" ? .milliseconds(10) : .seconds(3600)
        let transport = transport(StubTransport(always: .text("x")), stuck, options)
        _ = try await transport.send(TransportRequest(url: url)).body.collect()
        let waiting = Task { await transport.waitForShadows() }
        if end == "cancellation" { waiting.cancel() }
        await waiting.value
        #expect(transport.counts.shadowed == 1 && transport.counts.unfinished == 0)
        open.finish()
        await transport.settle()
        #expect(transport.counts.unfinished + transport.counts.differences == 1)
    }

    @Test func `a status, an error and trailers are compared`() async throws {
        let broken = NetworkError(.connectionLost, "gone", phase: .receiving)
        let cut = StubResponse.chunks([Data("x".utf8)], thenFailing: broken)
        let pairs: [(StubResponse, StubResponse, [String])] = [
            (.status(200), .status(404), ["status"]),
            (.text("x"), cut, ["error"]),
            (.failure(NetworkError.connectTimeout), .failure(NetworkError.connectTimeout), []),
        ]
        for (own, other, places) in pairs {
            let transport = transport(StubTransport(always: own), StubTransport(always: other))
            _ = try? await get(transport)
            await transport.settle()
            let found = differences.all.last?.places.map(\.name) ?? []
            #expect(places.allSatisfy(found.contains), "\(found)")
            if places.isEmpty { #expect(transport.counts.same == 1) }
        }
    }

    @Test func `a known difference is counted by itself`() async throws {
        var fields = HTTPFields()
        fields.append(HTTPField(name: HTTPField.Name("X-A")!, value: "1"))
        fields.append(HTTPField(name: HTTPField.Name("X-A")!, value: "2"))
        let both = fields
        let curl = ClosureTransport(name: "curl") { _ in
            TransportResponse(head: HTTPResponse(status: .ok, headerFields: both), body: .init(Data()))
        }
        let session = ClosureTransport(name: "urlsession") { _ in
            TransportResponse(
                head: HTTPResponse(status: .ok, headerFields: [HTTPField.Name("X-A")!: "1, 2"]), body: .init(Data()))
        }
        let transport = transport(curl, session)
        try await get(transport)
        #expect(transport.counts.knownDifferences == 1 && transport.counts.differences == 0)
        #expect(differences.all.first?.isKnown == true)
    }

    @Test func `bodies are compared up to the limit, and as far as the program reads`() async throws {
        var options = always
        options.maximumComparedBytes = 1_000
        let long = Data(repeating: 1, count: 5_000)
        var other = long
        other[4_000] = 2
        let beyond = transport(StubTransport(always: .bytes(long)), StubTransport(always: .bytes(other)), options)
        #expect(try await get(beyond) == long)
        #expect(beyond.counts.same == 1)
        other[900] = 2
        let within = transport(StubTransport(always: .bytes(long)), StubTransport(always: .bytes(other)), options)
        #expect(try await get(within) == long)
        #expect(differences.places == ["text:1/1"])
        #expect(differences.all.first?.primary?.body.count == 1_000)
        #expect(differences.all.first?.primary?.isWhole == false)
        // A whole body that is shorter than what is known of the other one.
        let short = transport(
            StubTransport(always: .bytes(long)), StubTransport(always: .bytes(long.prefix(10))), options)
        _ = try await get(short)
        #expect(short.counts.differences == 1)
    }

    @Test func `of a body that is released the part that was read is compared`() async throws {
        let chunks = ["one", "two", "three"].map { Data($0.utf8) }
        let transport = transport(
            StubTransport(always: .chunks(chunks)), StubTransport(always: .chunks([chunks[0], Data("other".utf8)])))
        do {
            let response = try await transport.send(TransportRequest(url: url))
            var body = response.body.makeAsyncIterator()
            #expect(try await body.next() == chunks[0])
        }
        await transport.settle()
        #expect(transport.counts.same == 1, "\(transport.counts), \(differences.places)")
    }

    // MARK: What the primary notices

    @Test func `a shadow that hangs delays nothing, and ends in time`() async throws {
        var options = always
        options.timeout = .milliseconds(30)
        // Until the shadow is cancelled.
        let hanging = ClosureTransport { _ in
            try await Gate().wait()
            throw NetworkError.cancelled
        }
        let transport = transport(StubTransport(always: .text("x")), hanging, options)
        #expect(try await transport.send(TransportRequest(url: url)).body.collect() == Data("x".utf8))
        await transport.settle()
        #expect(transport.counts.unfinished == 1 && differences.all.isEmpty)
    }

    /// Regression: two clocks with the same limit decided between `unfinished` and a difference.
    @Test(arguments: [nil, Duration.milliseconds(50), .seconds(60)])
    func `a shadow that runs out of time is unfinished, whichever clock is first`(own: Duration?) async throws {
        var options = always
        options.timeout = .milliseconds(50)
        let shadow = ClosureTransport { request in
            // A transport whose clock is first.
            if request.options.totalTimeout != nil { throw NetworkError.totalTimeout }
            try await Gate().wait()
            throw CancellationError()
        }
        let transport = transport(StubTransport(always: .text("x")), shadow, options)
        var request = TransportRequest(url: url)
        request.options.totalTimeout = own
        _ = try await transport.send(request).body.collect()
        await transport.settle()
        #expect(transport.counts.unfinished == 1 && transport.counts.differences == 0)
    }

    @Test func `a shadow that exceeds the request's own time has failed`() async throws {
        let shadow = ClosureTransport { request in
            try #require(request.options.totalTimeout == .seconds(5))
            throw NetworkError.totalTimeout
        }
        let transport = transport(StubTransport(always: .text("x")), shadow)
        var request = TransportRequest(url: url)
        request.options.totalTimeout = .seconds(5)
        _ = try await transport.send(request).body.collect()
        await transport.settle()
        #expect(transport.counts.differences == 1)
    }

    @Test func `the shadow begins when the primary's head is there, and the body is not collected`() async throws {
        let second = Gate()
        let primary = ClosureTransport { _ in
            let body = StreamedBody(["first", "second"], before: second)
            return TransportResponse(head: HTTPResponse(status: .ok), body: .init(source: body))
        }
        let transport = transport(primary, StubTransport(always: .text("firstsecond")))
        let response = try await transport.send(TransportRequest(url: url))
        var body = response.body.makeAsyncIterator()
        #expect(try await body.next() == Data("first".utf8))
        second.open()
        #expect(try await body.next() == Data("second".utf8))
        #expect(try await body.next() == nil)
        await transport.settle()
        #expect(transport.counts.same == 1, "\(differences.places)")
    }

    @Test func `a body without a reader is given up in time`() async throws {
        var options = always
        options.timeout = .milliseconds(30)
        let transport = transport(StubTransport(always: .text("x")), StubTransport(always: .text("y")), options)
        let response = try await transport.send(TransportRequest(url: url))
        await transport.settle()
        #expect(transport.counts.unfinished == 1)
        #expect(try await response.body.collect() == Data("x".utf8))
        #expect(differences.all.isEmpty)
    }

    /// A program may read for hours, and the shadow's time is over.
    @Test func `of a body that is read slowly nothing is kept after the shadow's time`() async throws {
        var options = always
        options.timeout = .milliseconds(30)
        let gate = ShadowGate(options)
        #expect(gate.begins())
        let (released, chunk) = (Gate(), String(repeating: "x", count: 100_000))
        let exchange = ShadowExchange(
            TransportRequest(url: url), besides: "stub", over: StubTransport(always: .text(chunk + "y")), options,
            gate, { _, _ in })
        let source = StreamedBody([chunk, chunk], before: released)
        let response = exchange.begin(
            besides: TransportResponse(head: HTTPResponse(status: .ok), body: .init(source: source)))
        var body = response.body.makeAsyncIterator()
        #expect(try await body.next()?.count == chunk.utf8.count)
        await gate.waitUntilIdle()
        #expect(exchange.keptBytes == 0)
        released.open()
        #expect(try await body.next()?.count == chunk.utf8.count)
        #expect(exchange.keptBytes == 0)
    }

    @Test func `a request that is cancelled is not compared`() async throws {
        let shadow = StubTransport(always: .text("x"))
        let errors: [any Error] = [
            CancellationError(), NetworkError.cancelled, NetworkError(.shutDown, "x"),
            NetworkError(.overloaded, "x", phase: .queued), NetworkError(.invalidOption, "x", phase: .preparing),
        ]
        for error in errors {
            let transport = transport(ClosureTransport { _ in throw error }, shadow)
            _ = try? await transport.send(TransportRequest(url: url))
            await transport.settle()
            #expect(transport.counts.shadowed == 0 && differences.all.isEmpty)
        }
        // The primary did not send it either.
        #expect(shadow.sent.isEmpty)
    }

    /// Regression: the reader's own limit was a failure of the primary.
    @Test func `a body beyond its reader's limit is no difference`() async throws {
        let body = Data(count: 100)
        let transport = transport(StubTransport(always: .bytes(body)), StubTransport(always: .bytes(body)))
        let response = try await transport.send(TransportRequest(url: url))
        await expectFailure(.bodyTooLarge) { _ = try await response.body.collect(upTo: 10) }
        await transport.settle()
        #expect(transport.counts.same == 1, "\(differences.places)")
    }

    @Test func `a timeout without end is one`() async throws {
        var options = always
        options.timeout = .seconds(Int64.max)
        let transport = transport(StubTransport(always: .text("x")), StubTransport(always: .text("x")), options)
        try await get(transport)
        #expect(transport.counts.same == 1)
    }

    /// Regression: only the last part of a path counted, values were cut before their secrets were left out, and names
    /// of members were printed as the server wrote them.
    @Test func `a difference shows no secret and no control character`() async throws {
        let own = HTTPField.Name("X-Foo")!
        func response(_ secret: String) -> StubResponse {
            .text(
                #"{"access_tokens":["\#(secret)"],"next":"https://u:\#(secret)@h/p?token=\#(secret)","a\u001b[2J\n":"\#(secret == "classified1")"}"#,
                headerFields: [
                    .contentType: "application/json", own: secret,
                    .location: "https://h/" + String(repeating: "a", count: 60) + "?code=\(secret)",
                ])
        }
        let log = CanaryLog()
        let transport = ShadowTransport(
            primary: StubTransport(always: response("classified1")),
            shadow: StubTransport(always: response("classified2")), options: always, logger: log.logger)
        var request = TransportRequest(url: url)
        request.options.secretFields = [own]
        _ = try await transport.send(request).body.collect()
        await transport.settle()
        let line = try #require(log.messages.first)
        #expect(line.contains("json:/access_tokens/…") && line.contains("field:x-foo"))
        #expect(!line.contains("classified"), "\(line)")
        #expect(!line.unicodeScalars.contains { $0.isInvisible }, "\(line)")
    }

    @Test func `progress and wire log are the primary's alone`() async throws {
        let shadow = StubTransport(always: .text("x"))
        let transport = transport(StubTransport(always: .text("x")), shadow)
        var request = TransportRequest(url: url)
        request.options.progress = { _ in }
        _ = try await transport.send(request).body.collect()
        await transport.settle()
        #expect(shadow.sent.count == 1 && shadow.sent.first?.options.progress == nil)
    }

    // MARK: Which requests have a shadow

    @Test func `only safe methods and bodies in memory have a shadow`() async throws {
        let shadow = StubTransport(always: .text("x"))
        var options = always
        let transport = transport(StubTransport(always: .text("x")), shadow, options)
        for method in [HTTPRequest.Method.post, .put, .patch, .delete] {
            _ = try await transport.send(TransportRequest(method: method, url: url)).body.collect()
        }
        #expect(shadow.sent.isEmpty && transport.counts.requests == 4 && transport.counts.shadowed == 0)
        options.methods = [.post]
        let posting = self.transport(StubTransport(always: .text("x")), shadow, options)
        let once = AsyncStream { stream in
            stream.yield(Data("once".utf8))
            stream.finish()
        }
        let twice = TransportRequest.Body.bytes(Data("twice".utf8))
        let file = try TransportRequest.Body.file(#filePath)
        let bodies: [TransportRequest.Body] = [.stream(once), file, twice.reportingProgress { _ in }, twice]
        for body in bodies {
            _ = try await posting.send(TransportRequest(method: .post, url: url, body: body)).body.collect()
        }
        await posting.settle()
        #expect(shadow.sent.map(\.text) == ["twice"])
        #expect(posting.counts.skipped == 3 && posting.counts.shadowed == 1)
    }

    /// Regression: the shadow rewound the source of a body that the primary was still sending.
    @Test func `a body that the primary still reads has no shadow`() async throws {
        var options = always
        options.methods = [.post]
        let (source, sent) = (SharedSource(), SharedSource())
        let body = TransportRequest.Body.replayableStream {
            source.pieces.withLock { $0 = ["a", "b", "c"] }
            return AsyncStream<Data>(unfolding: { source.next() })
        }
        let (isReading, mayGoOn, uploads) = (Gate(), Gate(), AsyncStream<Task<Void, any Error>>.makeStream())
        let primary = ClosureTransport { request in
            let sending = try #require(request.body)
            let upload = Task {
                try await sending.read { piece in
                    sent.pieces.withLock { $0.append(String(decoding: piece, as: UTF8.self)) }
                    isReading.open()
                    try await mayGoOn.wait()
                }
            }
            uploads.continuation.yield(upload)
            // The head comes while the body is sent.
            try await isReading.wait()
            return TransportResponse(head: HTTPResponse(status: .ok), body: .init(Data("x".utf8)))
        }
        let shadow = StubTransport(always: .text("x"))
        let transport = transport(primary, shadow, options)
        _ = try await transport.send(TransportRequest(method: .post, url: url, body: body)).body.collect()
        await transport.settle()
        mayGoOn.open()
        let upload = try #require(await uploads.stream.first { _ in true })
        try await upload.value
        #expect(sent.pieces.withLock { $0 } == ["a", "b", "c"])
        #expect(shadow.sent.isEmpty && transport.counts.skipped == 1 && transport.counts.shadowed == 0)
    }

    @Test func `a share of the requests has a shadow`() async throws {
        var options = always
        options.share = 0.1
        options.maximumConcurrent = .max
        let shadow = StubTransport(always: .text("x"))
        let transport = transport(StubTransport(always: .text("x")), shadow, options)
        for _ in 0..<5_000 { _ = try await transport.send(TransportRequest(url: url)).body.collect() }
        await transport.settle()
        // Six standard deviations.
        #expect((373...627).contains(shadow.sent.count), "\(shadow.sent.count)")
        #expect(transport.counts.requests == 5_000 && transport.counts.same == shadow.sent.count)
        options.share = 0
        let none = self.transport(StubTransport(always: .text("x")), shadow, options)
        for _ in 0..<1_000 { _ = try await none.send(TransportRequest(url: url)) }
        #expect(none.counts.shadowed == 0)
    }

    @Test func `more than the limit at the same time go without`() async throws {
        var options = always
        options.maximumConcurrent = 2
        let open = Gate()
        let shadow = ClosureTransport { _ in
            try await open.wait()
            return TransportResponse(head: HTTPResponse(status: .ok), body: .init(Data("x".utf8)))
        }
        let transport = transport(StubTransport(always: .text("x")), shadow, options)
        for _ in 0..<5 { _ = try await transport.send(TransportRequest(url: url)).body.collect() }
        #expect(transport.counts.shadowed == 2 && transport.counts.skipped == 3)
        open.open()
        await transport.settle()
        #expect(transport.counts.same == 2)
    }

    @Test func `what the shadow can't send is counted`() async throws {
        let transport = transport(
            StubTransport(always: .text("x")), StubTransport(lacking: [.bodyOnGet]))
        let request = TransportRequest(url: url, body: .bytes(Data("x".utf8)))
        _ = try await transport.send(request).body.collect()
        await transport.settle()
        #expect(transport.counts.unsupported == 1 && transport.counts.shadowed == 0)
    }
}

/// The pieces of a body that each reading rewinds.
private final class SharedSource: Sendable {
    let pieces = Guarded<[String]>([])

    func next() -> Data? { pieces.withLock { $0.isEmpty ? nil : Data($0.removeFirst().utf8) } }
}

/// A body whose second chunk waits.
private final class StreamedBody: TransportResponse.BodySource {
    private let chunks: Guarded<[String]>
    private let gate: Gate

    init(_ chunks: [String], before gate: Gate) {
        self.chunks = Guarded(chunks)
        self.gate = gate
    }

    func next() async throws -> Data? {
        let (chunk, isFirst) = chunks.withLock { chunks in
            (chunks.isEmpty ? nil : chunks.removeFirst(), chunks.count == 1)
        }
        if !isFirst { try await gate.wait() }
        return chunk.map { Data($0.utf8) }
    }

    func collect(upTo limit: Int?) async throws -> Data {
        var body = Data()
        while let chunk = try await next() { body += chunk }
        return body
    }

    var metrics: TransportMetrics { TransportMetrics(total: .zero) }
    var trailers: HTTPFields? { nil }
}
