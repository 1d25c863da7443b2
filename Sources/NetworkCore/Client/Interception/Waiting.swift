public import FoundationEssentials

/// The delay before another attempt: it doubles after each failure, up to a limit.
struct BackOff: Sendable, Hashable {
    var first: Duration
    var limit: Duration

    /// Returns the delay.
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
        sleep: { try await Task.sleep(for: max(.zero, min($0, TransportOptions.maximumTimeout))) },
        random: { .random(in: 0..<1) }
    )
}
