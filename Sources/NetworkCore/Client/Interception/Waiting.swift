public import FoundationEssentials
import HTTPTypes

/// The delay before another attempt: it doubles after each failure, up to a limit.
struct BackOff: Sendable, Hashable {
    var first: Duration
    var limit: Duration

    func delay(after failures: Int, jitter: Double) -> Duration {
        // A negative time counts as 0; multiples of a `Duration` beyond `Int64` seconds trap.
        let limit = max(.zero, min(limit, .seconds(Int64.max)))
        var delay = max(.zero, min(first, limit))
        // Stepwise, and no further than the limit: the first delay may come from a server, and its multiples may
        // overflow.
        for _ in 1..<max(1, min(failures, 31)) {
            guard delay < limit / 2 else {
                delay = limit
                break
            }
            delay *= 2
        }
        // The random number may be the caller's own; infinity and NaN would trap too.
        return min(limit, delay * (1 + (jitter > 0 ? min(jitter, 1) : 0)))
    }
}

extension NetworkError {
    /// Whether the network broke the exchange, so that another one may succeed.
    var isConnectionLoss: Bool { Code.networkFailures.contains(code) }
}

/// The date, the pauses and the random numbers of a step that waits. A test supplies its own.
public struct TimeSource: Sendable {
    /// Returns the current date, to compare dates in header fields with.
    public var now: @Sendable () -> Date
    /// Waits; throws `CancellationError` when the task is cancelled.
    public var sleep: @Sendable (Duration) async throws -> Void
    /// Returns a number from 0 up to, but not including, 1.
    public var random: @Sendable () -> Double

    /// Creates a source of your own.
    public init(
        now: @escaping @Sendable () -> Date,
        sleep: @escaping @Sendable (Duration) async throws -> Void,
        random: @escaping @Sendable () -> Double
    ) {
        self.now = now
        self.sleep = sleep
        self.random = random
    }

    /// Creates a source that waits by a clock, with the system's date and random numbers. With a clock that a test
    /// moves, pauses take no time.
    public init(clock: any Clock<Duration>) {
        self.init(
            now: Self.system.now,
            // A time beyond what a clock can count would trap.
            sleep: { try await clock.sleep(for: max(.zero, min($0, TransportOptions.maximumTimeout))) },
            random: Self.system.random)
    }

    /// The system's clock and random numbers.
    public static let system = TimeSource(
        now: { Date() },
        sleep: {
            await SharedTimer.shared.wait(until: .now + max(.zero, min($0, TransportOptions.maximumTimeout)))
            try Task.checkCancellation()
        },
        random: { .random(in: 0..<1) }
    )
}

extension TransportResponse {
    /// The limit on a body that is read only to keep its connection, in bytes, and the timeout for that read.
    private static let drainedBytes = 64 * 1024
    private static let drainTime = Duration.seconds(1)

    /// Ends the exchange of a response that is not needed. A small body is read, so that its connection is free for the
    /// next request; a larger one is abandoned. The exchange must be over when this returns, although the response is
    /// still held: the next request may wait for its slot.
    package func drain() async {
        // Errors concern only a response that is discarded. A body beyond the limit is an error that ends its exchange;
        // a body that announces such a length is not read at all.
        await atMost(Self.drainTime) { _ = try? await body.collect(upTo: Self.drainedBytes) }
        body.record.stopSending?()
    }

    /// Ends the exchange at once, however much is left of its body, even while the response is held.
    package func end() async {
        // A cancelled reader ends the exchange without waiting for a byte. It reads nothing before its cancellation,
        // since a small rest would be read to its end. Its error concerns a discarded response.
        let (cancellation, keepsOpen) = AsyncStream<Void>.makeStream()
        let reader = Task {
            for await _ in cancellation {}
            // From the source, since the body may have a reader.
            _ = try? await body.source.collect(upTo: 0)
        }
        reader.cancel()
        await reader.value
        keepsOpen.finish()
    }
}

extension TimeSource {
    /// Waits, and meanwhile frees the connection of a response that is discarded.
    func sleep(_ delay: Duration, discarding response: TransportResponse?) async throws {
        async let drained: Void? = response?.drain()
        try await sleep(delay)
        await drained
    }
}

/// Runs work that is cancelled after the time, and waits until the work has ended.
package func atMost(_ time: Duration, _ work: @escaping @Sendable () async -> Void) async {
    await withTaskGroup(of: Void.self) { group in
        group.addTask(operation: work)
        group.addTask { try? await TimeSource.system.sleep(time) }
        await group.next()
        group.cancelAll()
    }
}
