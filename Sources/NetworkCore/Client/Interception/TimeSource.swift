public import FoundationEssentials

/// What a step that waits asks of the world: the date, a pause, chance. A test gives its own.
public struct TimeSource: Sendable {
    /// The date, to read dates of header fields against.
    public var now: @Sendable () -> Date
    /// Waits; throws `CancellationError` when the task is cancelled.
    public var sleep: @Sendable (Duration) async throws -> Void
    /// A number from 0 up to, but not including, 1.
    public var random: @Sendable () -> Double

    /// A source of your own.
    public init(
        now: @escaping @Sendable () -> Date,
        sleep: @escaping @Sendable (Duration) async throws -> Void,
        random: @escaping @Sendable () -> Double
    ) {
        self.now = now
        self.sleep = sleep
        self.random = random
    }

    /// The system's clock and chance.
    public static let system = TimeSource(
        now: { Date() },
        // What the system's clock can't count ends the process.
        sleep: { try await Task.sleep(for: max(.zero, min($0, TransportOptions.maximumTimeout))) },
        random: { .random(in: 0..<1) }
    )
}
