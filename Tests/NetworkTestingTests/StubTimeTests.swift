import Foundation
import HTTPTypes
import NetworkCore
import NetworkTesting
import TestSupport
import Testing

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

/// Stubs on a clock that the test moves.
@Suite(.patience(minutes: 1))
struct StubTimeTests {
    private let clock = ManualClock()
    private let get = RequestData(path: "http://h/rows?page=1", headerFields: ["X-A": "1"])

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
        let stub = StubTransport(clock: clock).when(.any, .text("late").after(.seconds(50)))
        async let body = stub.send(get, as: .data).body
        await clock.waitForSleepers(1)
        clock.advance(by: .seconds(49))
        #expect(clock.now.offset == .seconds(49))
        clock.advance(by: .seconds(1))
        #expect(try await body == Data("late".utf8))
    }

    @Test func `a delay beyond a timeout is that timeout`() async throws {
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
        let stub = StubTransport(clock: clock).always(.any, .text("late").after(.seconds(3600)))
        async let error = expectFailure(.idleTimeout) { [get] in try await stub.send(try get.transportRequest()) }
        await clock.waitForSleepers(1)
        clock.advance(by: .seconds(60))
        #expect(await error?.exchange?.elapsed == .seconds(60))
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
        let stub = StubTransport(clock: clock).always(.any, chunks(every: .zero))
        var body = try await stub.send(try request { $0.totalTimeout = .seconds(5) }).body.makeAsyncIterator()
        #expect(try await body.next() == Data("a".utf8))
        clock.advance(by: .seconds(6))
        await expectFailure(.totalTimeout) { try await body.next() }
    }

    @Test func `enough time is enough`() async throws {
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
        let stub = StubTransport(clock: clock).always(.any, chunks(every: .seconds(5)))
        let body = try await stub.send(try get.transportRequest()).body
        let task = Task { try await body.collect() }
        await clock.waitForSleepers(1)
        task.cancel()
        await expectFailure(.cancelled) { try await task.value }
    }

    /// A test that exceeds its time limit must not wait for sleepers that never arrive.
    @Test func `cancellation ends the wait for sleepers`() async {
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
        let stub = StubTransport(clock: clock).always(.any, .status(200).after(.seconds(5)))
        let task = Task { try await stub.send(get, as: .data).body }
        await clock.waitForSleepers(1)
        task.cancel()
        await expectFailure(.cancelled) { try await task.value }
    }

    @Test func `the clock wakes in order and forgets the cancelled`() async throws {
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
