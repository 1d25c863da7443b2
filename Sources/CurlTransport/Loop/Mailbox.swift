import NetworkCore
import Synchronization

/// The messages to the loop's thread, which are its whole API. A message names a transfer by its object, which is never
/// reused, so a late message can't hit another transfer.
enum LoopMessage: Sendable {
    case start(Transfer)
    case cancel(Transfer)
    /// The transfer's reader has made room.
    case resume(Transfer)
    /// The transfer's reader is gone.
    case discard(Transfer)
    /// The loop accepts no more starts, and ends when nothing is left, at the deadline at the latest.
    case shutDown(deadline: MonotonicTime)
    /// Somebody asks for the loop's statistics. The answer comes also from a loop that ends.
    case report(to: @Sendable (TransportStatistics) -> Void)
}

/// Messages and jobs for the loop's thread, which takes them all at once. The thread is woken only when it sleeps.
final class Mailbox: Sendable {
    private struct State {
        var messages: [LoopMessage] = []
        var jobs: [UnownedJob] = []
        var isSleeping = false
        var takesStarts = true
        var isClosed = false
    }

    private let state = Guarded(State())
    let wakeUp: WakeUp

    init(wakeUp: WakeUp) { self.wakeUp = wakeUp }

    /// - Returns: `false` if the loop has ended or accepts no more starts; the message is lost then.
    func post(_ message: LoopMessage) -> Bool {
        let (isTaken, wakes) = state.withLock { state in
            guard !state.isClosed else { return (false, false) }
            if case .start = message, !state.takesStarts { return (false, false) }
            state.messages.append(message)
            if case .shutDown = message { state.takesStarts = false }
            defer { state.isSleeping = false }
            return (true, state.isSleeping)
        }
        if wakes { wakeUp.signal() }
        return isTaken
    }

    /// Posts a task's job.
    /// - Returns: `false` if the loop has ended; the caller keeps the job.
    func post(_ job: UnownedJob) -> Bool {
        let (isTaken, wakes) = state.withLock { state in
            guard !state.isClosed else { return (false, false) }
            state.jobs.append(job)
            defer { state.isSleeping = false }
            return (true, state.isSleeping)
        }
        if wakes { wakeUp.signal() }
        return isTaken
    }

    /// Accepts no more messages and jobs. For the loop itself; other callers post ``LoopMessage/shutDown``.
    func close() { state.withLock { $0.isClosed = true } }

    /// Swaps all messages and jobs into empty arrays, whose storage is used for the next ones. While messages from the
    /// last time are left, it takes jobs alone, which need not wait for all of a thousand messages.
    func take(into messages: inout [LoopMessage], _ jobs: inout [UnownedJob]) {
        state.withLock { state in
            state.isSleeping = false
            if messages.isEmpty { swap(&state.messages, &messages) }
            swap(&state.jobs, &jobs)
        }
    }

    /// Announces that the thread is about to wait.
    ///
    /// Decided under the lock that `post` takes: either this function sees a message, or the posting thread sees
    /// `isSleeping` and wakes the loop.
    /// - Returns: `false` if a message or job is there already.
    func fallAsleep() -> Bool {
        state.withLock { state in
            state.isSleeping = state.messages.isEmpty && state.jobs.isEmpty
            return state.isSleeping
        }
    }
}
