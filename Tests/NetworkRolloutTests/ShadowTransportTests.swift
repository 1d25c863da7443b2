import Foundation
import NetworkLayer
import NetworkTesting
import Synchronization
import TestSupport
import Testing

@testable import NetworkRollout

/// What the primary notices of a shadow.
@Suite(.patience(minutes: 1))
struct ShadowTransportTests: ShadowSuite {
    let differences = Differences()

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
        let transport = shadowed(by: stuck, options)
        _ = try await transport.send(TransportRequest(url: url)).body.collect()
        let waiting = Task { await transport.waitForShadows() }
        if end == "cancellation" { waiting.cancel() }
        await waiting.value
        #expect(transport.counts.shadowed == 1 && transport.counts.unfinished == 0)
        open.finish()
        await transport.settle()
        #expect(transport.counts.unfinished + transport.counts.differences == 1)
    }

    @Test func `a shadow that hangs delays nothing, and ends in time`() async throws {
        var options = always
        options.timeout = .milliseconds(30)
        // Until the shadow is cancelled.
        let hanging = ClosureTransport { _ in
            try await Gate().wait()
            throw NetworkError.cancelled
        }
        let transport = shadowed(by: hanging, options)
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
        let transport = shadowed(by: shadow, options)
        var request = TransportRequest(url: url)
        request.options.totalTimeout = own
        try await transport.settled(request)
        #expect(transport.counts.unfinished == 1 && transport.counts.differences == 0)
    }

    @Test func `a shadow that exceeds the request's own time has failed`() async throws {
        let shadow = ClosureTransport { request in
            try #require(request.options.totalTimeout == .seconds(5))
            throw NetworkError.totalTimeout
        }
        let transport = shadowed(by: shadow)
        var request = TransportRequest(url: url)
        request.options.totalTimeout = .seconds(5)
        try await transport.settled(request)
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
        let transport = shadowed(by: StubTransport(always: .text("y")), options)
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
            gate, { _ in })
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

    @Test func `a timeout without end is one`() async throws {
        var options = always
        options.timeout = .seconds(Int64.max)
        let transport = shadowed(by: StubTransport(always: .text("x")), options)
        try await get(transport)
        #expect(transport.counts.same == 1)
    }

    @Test func `progress and wire log are the primary's alone`() async throws {
        let shadow = StubTransport(always: .text("x"))
        let transport = shadowed(by: shadow)
        var request = TransportRequest(url: url)
        request.options.progress = { _ in }
        try await transport.settled(request)
        #expect(shadow.sent.count == 1 && shadow.sent.first?.options.progress == nil)
    }
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
