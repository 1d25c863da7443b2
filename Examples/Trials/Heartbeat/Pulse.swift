import Foundation
import CurlTransport
import NetworkCore
import Synchronization

/// How long the rounds of a dispatcher's loop take, felt from within: a job on the loop's thread that asks for the next
/// one, which runs a round later.
final class Pulse: Sendable {
    /// The longest round so far.
    struct Longest: Sendable {
        /// With all that the machine did meanwhile.
        var onTheClock = Duration.zero
        /// Without the time that the thread waited for a core.
        var round = Duration.zero
        /// The most that the thread computed in one.
        var computing = Duration.zero
        /// The most that it was blocked in one: in a system call, or by a lock whose holder may have waited for a core.
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

    /// Begins to feel.
    /// - Throws: What keeps the loop's thread from starting.
    init(of dispatcher: CurlNetworkDispatcher) throws {
        executor = try dispatcher.loopExecutor()
        next()
    }

    /// The longest round so far.
    var longest: Longest { state.withLock(\.longest) }

    /// Forgets the longest round.
    /// - Returns: What it was.
    func restart() -> Longest {
        state.withLock { state in
            defer { state.longest = Longest() }
            return state.longest
        }
    }

    /// Ends it.
    func stop() { state.withLock { $0.isOver = true } }

    /// Not by `Task.yield`, which leads through the threads that all tasks share: the loop could fall asleep meanwhile.
    private func next() { Task.detached(executorPreference: executor) { self.beat() } }

    private func beat() {
        let now = ThreadTimes.now
        let isOver = state.withLock { state in
            // After the loop's end, its jobs run elsewhere.
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

/// The clocks of the calling thread.
struct ThreadTimes: Sendable {
    let thread: pthread_t
    let onTheClock: Duration
    /// How long it has computed.
    let computing: Duration
    /// How long it was ready and had no core, of which a busy machine has much.
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

    /// The second number of schedstat: nanoseconds in the queue for a core. 0 where the kernel does not count them.
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
