import Foundation
import NetworkTesting
import Synchronization
import TestSupport
import Testing

@testable import NetworkCore

@Suite(.patience(minutes: 1))
struct CallDeadlineTests {
    /// Regression: it was thrown as a CancellationError, which callers of this library do not catch.
    @Test(arguments: [nil, .seconds(60)] as [Duration?])
    func `cancelled work is a cancellation of the library`(timeout: Duration?) async {
        let call = NetworkClient.Call(totalTimeout: timeout)
        let task = Task {
            try await call.withinDeadline {
                try await Self.waitForCancellation()
            }
        }
        task.cancel()
        await expectFailure(.cancelled) { try await task.value }
    }

    @Test func `the deadline ends the work`() async {
        let call = NetworkClient.Call(totalTimeout: .milliseconds(20))
        await expectFailure(.totalTimeout) {
            try await call.withinDeadline {
                try await Self.waitForCancellation()
            }
        }
    }

    /// Regression: the message named the call's timeout, which was far away.
    @Test func `a step's timeout keeps its message`() throws {
        let call = NetworkClient.Call(totalTimeout: .seconds(300))
        var request = try TransportRequest.make(.get, "http://a/")
        request.options.totalTimeout = .seconds(300)
        let timeout = NetworkError(.totalTimeout, "the token was not renewed within 60.0 seconds", phase: .waiting)
        let error = call.noted(in: timeout, of: request, transport: "t") as? NetworkError
        #expect(error?.message == timeout.message)
    }

    /// Regression: the error's details were lost with the cancelled work.
    @Test func `an error at the deadline says what the work knew`() async {
        let call = NetworkClient.Call(totalTimeout: .milliseconds(20))
        let error = await expectFailure(.totalTimeout) {
            try await call.withinDeadline {
                do {
                    try await Self.waitForCancellation()
                } catch {
                    throw NetworkError(.cancelled, "ended", phase: .receiving)
                }
            }
        }
        #expect(error?.phase == .receiving)
    }

    private static func waitForCancellation() async throws {
        let (never, continuation) = AsyncStream<Void>.makeStream()
        for await _ in never {}
        continuation.finish()
        try Task.checkCancellation()
    }
}

@Suite("The record of a call")
struct CallRecordTests {
    /// Runs a closure when it goes.
    private final class Witness: Sendable {
        private let goes: @Sendable () -> Void
        init(_ goes: @escaping @Sendable () -> Void) { self.goes = goes }
        deinit { goes() }
    }

    /// Regression: a request went under the call's lock, and what it held took the lock again, which ends the process.
    @Test func `what a request holds may ask the call when it goes`() throws {
        let call = NetworkClient.Call()
        let seen = Guarded<[Int]>([])
        func request() throws -> TransportRequest {
            let witness = Witness { [call] in
                let exchanges = call.exchanges
                seen.withLock { $0.append(exchanges) }
            }
            var request = TransportRequest(url: try RequestURL("http://a/"))
            request.options.progress = { _ in withExtendedLifetime(witness) {} }
            return request
        }
        call.beginExchange(try request())
        call.beginExchange(try request())
        call.gotResponse(to: try request())
        #expect(seen.withLock { $0 } == [2, 2])
    }
}

struct BackOffTests {
    @Test func `a delay doubles up to its limit`() {
        let backOff = BackOff(first: .milliseconds(500), limit: .seconds(5))
        let delays = (0...6).map { backOff.delay(after: $0, jitter: 0) }
        #expect(delays == [0.5, 0.5, 1, 2, 4, 5, 5].map { .seconds($0) })
        #expect(backOff.delay(after: 2, jitter: 0.25) == .milliseconds(1_250))
        #expect(backOff.delay(after: 5, jitter: 1) == .seconds(5))
        #expect(BackOff(first: .zero, limit: .seconds(5)).delay(after: 9, jitter: 1) == .zero)
        #expect(BackOff(first: .seconds(9), limit: .zero).delay(after: 9, jitter: 1) == .zero)
    }

    /// Regression: streams of events and downloads gave up after a failure of the proxy, which calls retried.
    @Test func `a retried failure is a loss of the connection too`() {
        #expect(NetworkError(.truncatedBody, "x").isConnectionLoss)
        for code in RetryInterceptor.Policy().codes {
            #expect(NetworkError(code, "x").isConnectionLoss, "\(code.rawValue)")
        }
    }

    /// Regression: a server's `retry:` overflowed when it was doubled, which ended the process.
    @Test(arguments: [1, 2, 30, .max]) func `enormous times do not trap`(failures: Int) {
        let enormous = Duration.milliseconds(Int64.max)
        #expect(BackOff(first: enormous, limit: .seconds(30)).delay(after: failures, jitter: 1) == .seconds(30))
        #expect(BackOff(first: enormous, limit: enormous).delay(after: failures, jitter: 0) <= enormous)
    }
}

/// Checks that the total timeout and cancellation cover the work of a call after its response has arrived.
@Suite(.patience(minutes: 1))
struct CallTimeTests {
    /// Enough for what comes before the slow part.
    private static let total = Duration.seconds(patienceFactor)

    private func client(_ body: String, totalTimeout: Duration? = total) -> NetworkClient {
        var client = NetworkClient(transport: AnsweringTransport(.init(body: body)))
        client.options.totalTimeout = totalTimeout
        return client
    }

    /// Blocks the thread until the timeout has passed; or, if asked to, until the task is cancelled.
    private static func linger(endsWithTask: Bool = false) {
        let late = ContinuousClock.now + total
        while ContinuousClock.now < late, !(endsWithTask && Task.isCancelled) { usleep(1_000) }
    }

    /// A decoder that can't be interrupted, and returns only after the timeout or after its task's cancellation.
    private static let slow = ClosureResponseDecoder { _, _ in
        Self.linger(endsWithTask: true)
        return "late"
    }

    private let request = RequestData(path: "http://127.0.0.1/")

    @Test func `a value that comes too late is a timeout`() async throws {
        let error = await expectFailure(.totalTimeout) {
            try await client("x").with { $0.decoder = Self.slow }.send(request, as: String.self)
        }
        #expect(error?.phase == .decoding)
        #expect(error?.exchange?.method == "GET")
        #expect(error?.response == nil, "validation did not refuse the response")
        let patient = client("x", totalTimeout: nil).with { $0.decoder = Self.slow }
        #expect(try await patient.send(request, as: String.self).body == "late")
    }

    @Test func `a decoder's failure that comes too late is a timeout`() async throws {
        let failing = ClosureResponseDecoder { _, _ in
            Self.linger()
            throw CocoaError(.coderReadCorrupt)
        }
        let client = client("x").with { $0.decoder = failing }
        await expectFailure(.totalTimeout) { try await client.send(request, as: String.self) }
        await expectFailure(.decodingFailed) {
            try await client.with { $0.options.totalTimeout = nil }.send(request, as: String.self)
        }
    }

    @Test func `a cancellation during the decoding is noted`() async throws {
        let started = Gate()
        let client = client("x", totalTimeout: nil).with {
            $0.decoder = .using { _, _ in
                started.open()
                while !Task.isCancelled {}
                return "late"
            }
        }
        let reading = Task { try await client.send(request, as: String.self).body }
        try await started.wait()
        reading.cancel()
        await expectFailure(.cancelled) { try await reading.value }
    }

    @Test func `lines of one chunk end with the time`() async throws {
        let lines = try await client("1\n2\n3\n").send(request, as: .lines)
        var iterator = lines.body.makeAsyncIterator()
        #expect(try await iterator.next() == "1")
        try await Task.sleep(for: Self.total)
        let error = await expectFailure(.totalTimeout) { try await iterator.next() }
        #expect(error?.exchange != nil)
        #expect(try await iterator.next() == nil)
    }

    @Test func `blank JSON lines end with the task`() async throws {
        let client = client(String(repeating: "\n", count: 200_000) + "1\n", totalTimeout: nil)
        let reading = Task {
            var values = try await client.send(request, as: .jsonLines(of: Int.self)).body.makeAsyncIterator()
            withUnsafeCurrentTask { $0?.cancel() }
            return try await values.next()
        }
        await expectFailure(.cancelled) { try await reading.value }
    }

    @Test func `lines across the cuts of a large chunk are whole`() async throws {
        let expected = (0..<50_000).map { "line number \($0)" }
        var lines: [String] = []
        let client = client(expected.joined(separator: "\r\n"), totalTimeout: nil)
        for try await line in try await client.send(request, as: .lines).body { lines.append(line) }
        #expect(lines == expected)
    }

    @Test func `a text that comes too late is a timeout`() async throws {
        var late = client("x")
        late.validation = .custom { _ in Self.linger() }
        await expectFailure(.totalTimeout) { try await late.send(request, as: .text) }
    }
}
