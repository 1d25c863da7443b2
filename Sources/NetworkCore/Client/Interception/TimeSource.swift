public import FoundationEssentials

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
