import NetworkCore
import Synchronization

/// A clock that stands still until a test moves it, so a delay of a minute takes no time.
///
/// ```swift
/// let clock = ManualClock()
/// let stub = StubTransport(clock: clock)
/// stub.when(.any, .text("late").after(.seconds(50)))
/// async let body = stub.send(request, as: .data).body
/// await clock.waitForSleepers(1)
/// clock.advance(by: .seconds(50))
/// ```
///
/// A request's own timeouts use this clock too: a delay longer than its ``NetworkCore/TransportOptions/idleTimeout``,
/// 60 s by default, ends in that timeout.
public final class ManualClock: Clock {
    /// A point in time, relative to the creation of the clock.
    public struct Instant: InstantProtocol {
        /// The time since the creation of the clock.
        public let offset: Duration

        /// Returns the point in time that is later by a duration.
        public func advanced(by duration: Duration) -> Instant { Instant(offset: offset + duration) }
        /// Returns the duration to another point in time.
        public func duration(to other: Instant) -> Duration { other.offset - offset }
        /// Returns whether the left point in time is earlier than the right one.
        public static func < (left: Instant, right: Instant) -> Bool { left.offset < right.offset }
    }

    private typealias Wake = AsyncStream<Void>.Continuation

    private struct State {
        var now = Instant(offset: .zero)
        var lastNumber = 0
        var sleepers: [Int: (deadline: Instant, wake: Wake)] = [:]
        /// The tasks that wait for a number of sleepers.
        var watchers: [Int: (count: Int, wake: Wake)] = [:]

        mutating func nextNumber() -> Int {
            lastNumber += 1
            return lastNumber
        }

        func wakeWatchers() {
            for watcher in watchers.values where watcher.count <= sleepers.count { watcher.wake.finish() }
        }
    }

    private let state = Guarded(State())

    /// Creates a clock at offset zero.
    public init() {}

    /// The current time of the clock.
    public var now: Instant { state.withLock(\.now) }

    /// Zero.
    public var minimumResolution: Duration { .zero }

    /// Moves the clock, and wakes the sleepers whose deadline has come, the earliest first.
    public func advance(by duration: Duration) {
        state.withLock { state in
            state.now = state.now.advanced(by: duration)
            let due = state.sleepers.filter { $0.value.deadline <= state.now }
            for (number, sleeper) in due.sorted(by: { $0.value.deadline < $1.value.deadline }) {
                state.sleepers[number] = nil
                sleeper.wake.finish()
            }
        }
    }

    /// Waits until at least the given number of tasks sleep on this clock, or the current task is cancelled.
    public func waitForSleepers(_ count: Int) async {
        let (woken, wake) = AsyncStream<Void>.makeStream()
        let number = state.withLock { state in
            let number = state.nextNumber()
            state.watchers[number] = (count, wake)
            state.wakeWatchers()
            return number
        }
        for await _ in woken {}
        state.withLock { $0.watchers[number] = nil }
    }

    /// Sleeps until a deadline on this clock.
    /// - Throws: `CancellationError` immediately if the task is cancelled.
    public func sleep(until deadline: Instant, tolerance: Duration? = nil) async throws {
        try Task.checkCancellation()
        let (woken, wake) = AsyncStream<Void>.makeStream()
        let number: Int? = state.withLock { state in
            guard deadline > state.now else { return nil }
            let number = state.nextNumber()
            state.sleepers[number] = (deadline, wake)
            state.wakeWatchers()
            return number
        }
        guard let number else { return }
        for await _ in woken {}
        state.withLock { $0.sleepers[number] = nil }
        try Task.checkCancellation()
    }
}
