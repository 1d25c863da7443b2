import Foundation
import CurlTransport
import NetworkCore
import Synchronization

/// Measures the rounds of a dispatcher's loop from within: a job on the loop's thread that schedules the next job,
/// which runs one round later.
final class Pulse: Sendable {
    /// The longest times of a round so far.
    struct Longest: Sendable {
        /// The time on the wall clock, which includes everything else that the machine did.
        var onTheClock = Duration.zero
        /// The time without waiting for a core.
        var round = Duration.zero
        /// The CPU time of the thread.
        var computing = Duration.zero
        /// The time in which the thread was blocked: in a system call, or on a lock whose holder may wait for a core.
        var blocked = Duration.zero
        var rounds = 0
    }

    private struct State {
        var longest = Longest()
        var last: ThreadTimes?
        var isOver = false
    }

    private let state = Mutex(State())
    private let executor: any TaskExecutor

    /// Starts to measure.
    /// - Throws: The error that prevents the loop's thread from starting.
    init(of dispatcher: CurlNetworkDispatcher) throws {
        executor = try dispatcher.loopExecutor()
        next()
    }

    /// The longest times so far.
    var longest: Longest { state.withLock(\.longest) }

    /// Resets the longest times.
    /// - Returns: The times before the reset.
    func restart() -> Longest {
        state.withLock { state in
            defer { state.longest = Longest() }
            return state.longest
        }
    }

    /// Ends the measurement.
    func stop() { state.withLock { $0.isOver = true } }

    /// Not `Task.yield`, which goes through the shared thread pool: the loop could fall asleep meanwhile.
    private func next() { Task.detached(executorPreference: executor) { self.beat() } }

    private func beat() {
        let now = ThreadTimes.now
        let isOver = state.withLock { state in
            // After the end of the loop, its jobs run on other threads.
            if let last = state.last, last.thread != now.thread { state.isOver = true }
            if let last = state.last, !state.isOver {
                state.longest.rounds += 1
                let onTheClock = now.onTheClock - last.onTheClock
                let round = onTheClock - (now.waiting - last.waiting)
                let computing = now.computing - last.computing
                state.longest.onTheClock = max(state.longest.onTheClock, onTheClock)
                state.longest.round = max(state.longest.round, round)
                state.longest.computing = max(state.longest.computing, computing)
                state.longest.blocked = max(state.longest.blocked, round - computing)
            }
            state.last = now
            return state.isOver
        }
        if !isOver { next() }
    }
}

/// The clocks of the current thread.
struct ThreadTimes: Sendable {
    let thread: pthread_t
    let onTheClock: Duration
    /// The CPU time of the thread.
    let computing: Duration
    /// The time in which the thread was ready but had no core, which is long on a busy machine.
    let waiting: Duration

    static var now: ThreadTimes {
        ThreadTimes(
            thread: pthread_self(), onTheClock: time(CLOCK_MONOTONIC), computing: time(CLOCK_THREAD_CPUTIME_ID),
            waiting: waitingNow)
    }

    private static func time(_ clock: clockid_t) -> Duration {
        var time = timespec()
        clock_gettime(clock, &time)
        return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
    }

    /// The second number in schedstat: the nanoseconds in the queue for a core. 0 if the kernel does not count them.
    private static var waitingNow: Duration {
        let file = open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return .zero }
        defer { close(file) }
        var text = [UInt8](repeating: 0, count: 64)
        let count = read(file, &text, text.count)
        let numbers = text.prefix(max(0, count)).split(separator: UInt8(ascii: " "))
        guard numbers.count > 1 else { return .zero }
        return .nanoseconds(Int64(String(decoding: numbers[1], as: UTF8.self)) ?? 0)
    }
}
