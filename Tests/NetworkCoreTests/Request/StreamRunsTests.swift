import Foundation
import NetworkTesting
import Synchronization
import TestSupport
import Testing

@testable import NetworkCore

/// Regression: a body that was sent again lost the chunk that the reading before it was about to take.
@Suite("Readings of a replayable stream", .patience(minutes: 1))
struct StreamRunsTests {
    private final class Source: Sendable {
        let chunks = Guarded<[String]>([])
    }

    /// Chunks from one source, each of which waits for a gate before it is taken, cancelled or not.
    private struct Rewound: AsyncSequence, AsyncIteratorProtocol {
        let source: Source
        let isAsked: Gate
        let mayTake: Gate

        func makeAsyncIterator() -> Self { self }

        func next() async -> Data? {
            isAsked.open()
            // A task of its own, which the reader's cancellation does not reach.
            await Task { [mayTake] in try? await mayTake.wait() }.value
            return source.chunks.withLock { $0.isEmpty ? nil : Data($0.removeFirst().utf8) }
        }
    }

    private func producer(of body: TransportRequest.Body) throws -> BodyProducer {
        guard case .produced(let producer) = body.content else { throw CancellationError() }
        return producer
    }

    @Test func `a new reading begins when the cancelled one has ended`() async throws {
        let source = Source()
        let (isAsked, mayTake) = (Gate(), Gate())
        let made = Guarded(0)
        let producer = try producer(
            of: .replayableStream {
                made.withLock { $0 += 1 }
                source.chunks.withLock { $0 = ["a", "b", "c"] }
                return Rewound(source: source, isAsked: isAsked, mayTake: mayTake)
            })
        let first = Task { try await producer.run { _ in } }
        try await isAsked.wait()
        first.cancel()
        let received = Guarded("")
        let second = Task {
            try await producer.run { data in received.withLock { $0 += String(decoding: data, as: UTF8.self) } }
        }
        // One that is cancelled while it waits begins nothing.
        let third = Task { try await producer.run { _ in } }
        third.cancel()
        await #expect(throws: CancellationError.self) { try await third.value }
        #expect(made.withLock { $0 } == 1)
        mayTake.open()
        try await second.value
        #expect(received.withLock { $0 } == "abc")
        #expect(made.withLock { $0 } == 2)
    }

    @Test func `a reading whose response is over ends for the next one, and another one goes on`() async throws {
        let (runs, isRunning, reading) = (StreamRuns(), Gate(), StreamReading(isLeft: false))
        let first = Task {
            try await StreamReading.$current.withValue(reading) {
                try await runs.run {
                    #expect(StreamReading.current == nil, "what the stream itself sends is another exchange's")
                    isRunning.open()
                    try await Gate().wait()
                }
            }
        }
        reading.onCancel { first.cancel() }
        try await isRunning.wait()
        try await runs.run {}
        #expect(!first.isCancelled)
        reading.leave()
        try await runs.run {}
        #expect(first.isCancelled)
        await #expect(throws: CancellationError.self) { try await first.value }
    }

    /// Regression: a reading whose response was over began beside a newer reading, and read from its source.
    @Test(arguments: [true, false])
    func `a reading whose response is over does not begin beside a newer one`(isLeft: Bool) async throws {
        let (runs, isRunning, isDone) = (StreamRuns(), Gate(), Gate())
        let newer = Task {
            try await StreamReading.$current.withValue(StreamReading(isLeft: isLeft)) {
                try await runs.run {
                    isRunning.open()
                    try await isDone.wait()
                }
            }
        }
        try await isRunning.wait()
        await #expect(throws: CancellationError.self) {
            try await StreamReading.$current.withValue(StreamReading(isLeft: true)) {
                try await runs.run { Issue.record("it has begun") }
            }
        }
        #expect(!newer.isCancelled)
        isDone.open()
        try await newer.value
    }

    @Test func `a reading that is cancelled before it can be is cancelled then`() {
        let (reading, isCancelled) = (StreamReading(isLeft: true), OneTimeFlag())
        reading.cancel()
        reading.onCancel { _ = isCancelled.raise() }
        #expect(isCancelled.isRaised)
    }

    @Test func `a reading that is cancelled before it begins makes no sequence`() async throws {
        let made = Guarded(0)
        let producer = try producer(
            of: .replayableStream {
                made.withLock { $0 += 1 }
                return AsyncStream<Data> { $0.finish() }
            })
        let isCancelled = Gate()
        let reading = Task {
            try? await isCancelled.wait()
            try await producer.run { _ in }
        }
        reading.cancel()
        isCancelled.open()
        await #expect(throws: CancellationError.self) { try await reading.value }
        #expect(made.withLock { $0 } == 0)
    }

    @Test func `readings that are cancelled while they wait leave nothing behind`() async throws {
        let runs = StreamRuns()
        let (isRunning, mayEnd) = (Gate(), Gate())
        let stuck = Task {
            try await runs.run {
                isRunning.open()
                // The source ignores the cancellation.
                await Task { try? await mayEnd.wait() }.value
            }
        }
        try await isRunning.wait()
        stuck.cancel()
        let waiting = (0..<8).map { _ in Task { try await runs.run {} } }
        while runs.waitingCount < 8 { await Task.yield() }
        for task in waiting.dropFirst() { task.cancel() }
        for task in waiting.dropFirst() { await #expect(throws: CancellationError.self) { try await task.value } }
        #expect(runs.waitingCount == 1)
        mayEnd.open()
        try await waiting[0].value
        try await stuck.value
        #expect(runs.waitingCount == 0)
    }

    @Test func `readings that go on are independent`() async throws {
        let mayTake = Gate()
        let made = Guarded(0)
        let producer = try producer(
            of: .replayableStream {
                made.withLock { $0 += 1 }
                return Rewound(source: Source(), isAsked: Gate(), mayTake: mayTake)
            })
        let readings = (0..<8).map { _ in Task { try await producer.run { _ in } } }
        while made.withLock({ $0 < 8 }) { await Task.yield() }
        mayTake.open()
        for reading in readings { try await reading.value }
    }
}
