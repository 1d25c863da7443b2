internal import Dispatch
import Synchronization

/// The timer of all waits of the process that a cancellation usually ends, such as those for a deadline.
///
/// A cancelled `Task.sleep` keeps some 700 bytes until its time would have come: with a timeout of 30 s, 200 MB at
/// 10,000 requests a second. Here a cancelled wait leaves nothing behind.
package final class SharedTimer: Sendable {
    private struct State {
        /// The waits by their end, in milliseconds since the start, and by their number.
        var waits: [Int64: [Int: CheckedContinuation<Void, Never>]] = [:]
        var lastNumber = 0
        /// The times of the calls that the queue owes, each before the ones before it. None is after the first end.
        var alarms: [Int64] = []
    }

    package static let shared = SharedTimer()

    private let start = ContinuousClock.now
    private let state = Guarded(State())

    /// The number of waits, for tests.
    var waitingCount: Int { state.withLock { $0.waits.values.reduce(0) { $0 + $1.count } } }

    /// Waits until a time, at most a millisecond or a thousandth longer, or until the task is cancelled.
    package func wait(until end: ContinuousClock.Instant) async {
        let slot = slot(of: end)
        let number = state.withLock { state in
            state.lastNumber += 1
            return state.lastNumber
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isCancelled = state.withLock { state in
                    // The handler of a cancellation that has begun may have run, and found nothing.
                    if Task.isCancelled { return true }
                    state.waits[slot, default: [:]][number] = continuation
                    ring(at: slot, &state)
                    return false
                }
                if isCancelled { continuation.resume() }
            }
        } onCancel: {
            let waiting = state.withLock { state in
                let waiting = state.waits[slot]?.removeValue(forKey: number)
                if state.waits[slot]?.isEmpty == true { state.waits[slot] = nil }
                return waiting
            }
            waiting?.resume()
        }
    }

    /// Rounds an end up, to a thousandth of the time until then: so there are few different ones.
    private func slot(of end: ContinuousClock.Instant) -> Int64 {
        let now = ContinuousClock.now
        let exact = milliseconds(end) + 1
        let grain = Int64(1) << max(0, 53 - max(0, exact - milliseconds(now)).leadingZeroBitCount)
        return (exact + grain - 1) / grain * grain
    }

    private func milliseconds(_ time: ContinuousClock.Instant) -> Int64 {
        let (seconds, attoseconds) = start.duration(to: time).components
        return seconds * 1_000 + attoseconds / 1_000_000_000_000_000
    }

    /// Asks the queue for a call, unless it owes an earlier one.
    private func ring(at time: Int64, _ state: inout State) {
        guard time < state.alarms.last ?? .max else { return }
        state.alarms.append(time)
        let delay = Int(max(0, time - milliseconds(.now)))
        DispatchQueue.global().asyncAfter(deadline: .now() + .milliseconds(delay)) { [self] in alarm(time) }
    }

    private func alarm(_ time: Int64) {
        let ended = state.withLock { state in
            state.alarms.removeAll { $0 == time }
            let now = milliseconds(.now)
            let ended = state.waits.filter { $0.key <= now }
            for slot in ended.keys { state.waits[slot] = nil }
            if let next = state.waits.keys.min() { ring(at: next, &state) }
            return ended.values.flatMap(\.values)
        }
        for continuation in ended { continuation.resume() }
    }
}
