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

    private struct Sleeper {
        let deadline: Instant
        let continuation: CheckedContinuation<Void, any Error>
    }

    private struct State {
        var now = Instant(offset: .zero)
        var lastNumber = 0
        var sleepers: [Int: Sleeper] = [:]
        var cancelled: Set<Int> = []
        var watchers: [(number: Int, count: Int, continuation: CheckedContinuation<Void, Never>)] = []

        /// Removes and returns the watchers whose number of sleepers is reached.
        mutating func takeWatchers() -> [CheckedContinuation<Void, Never>] {
            let ready = watchers.filter { $0.count <= sleepers.count }.map(\.continuation)
            watchers.removeAll { $0.count <= sleepers.count }
            return ready
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
        let due = state.withLock { state in
            state.now = state.now.advanced(by: duration)
            let due = state.sleepers.filter { $0.value.deadline <= state.now }
            for number in due.keys { state.sleepers[number] = nil }
            return due.values.sorted { $0.deadline < $1.deadline }.map(\.continuation)
        }
        for continuation in due { continuation.resume() }
    }

    /// Waits until at least the given number of tasks sleep on this clock, or the current task is cancelled.
    public func waitForSleepers(_ count: Int) async {
        let number = nextNumber()
        await withTaskCancellationHandler {
            await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
                let ready: [CheckedContinuation<Void, Never>] = state.withLock { state in
                    if state.cancelled.remove(number) != nil { return [continuation] }
                    state.watchers.append((number, count, continuation))
                    return state.takeWatchers()
                }
                for continuation in ready { continuation.resume() }
            }
        } onCancel: {
            let watcher: CheckedContinuation<Void, Never>? = state.withLock { state in
                let index = state.watchers.firstIndex { $0.number == number }
                if index == nil { state.cancelled.insert(number) }
                return index.map { state.watchers.remove(at: $0).continuation }
            }
            watcher?.resume()
        }
    }

    private func nextNumber() -> Int {
        state.withLock { state in
            state.lastNumber += 1
            return state.lastNumber
        }
    }

    /// Sleeps until a deadline on this clock.
    /// - Throws: `CancellationError` immediately if the task is cancelled.
    public func sleep(until deadline: Instant, tolerance: Duration? = nil) async throws {
        let number = nextNumber()
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                self.add(Sleeper(deadline: deadline, continuation: continuation), as: number)
            }
        } onCancel: {
            cancel(number)
        }
    }

    private func add(_ sleeper: Sleeper, as number: Int) {
        enum Step { case wake, fail, sleep([CheckedContinuation<Void, Never>]) }
        let step: Step = state.withLock { state in
            if state.cancelled.remove(number) != nil { return .fail }
            if sleeper.deadline <= state.now { return .wake }
            state.sleepers[number] = sleeper
            return .sleep(state.takeWatchers())
        }
        switch step {
        case .wake: sleeper.continuation.resume()
        case .fail: sleeper.continuation.resume(throwing: CancellationError())
        case .sleep(let watchers): for watcher in watchers { watcher.resume() }
        }
    }

    /// A cancellation that comes before its sleeper is remembered until the sleeper arrives.
    private func cancel(_ number: Int) {
        let sleeper = state.withLock { state in
            if let sleeper = state.sleepers.removeValue(forKey: number) { return sleeper as Sleeper? }
            state.cancelled.insert(number)
            return nil
        }
        sleeper?.continuation.resume(throwing: CancellationError())
    }
}
