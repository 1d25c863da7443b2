import Dispatch
import NetworkCore
import Synchronization

/// The end of a loop's thread, for callers that wait for it.
final class LoopEnd: Sendable {
    private struct State {
        var hasCome = false
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    private let state = Guarded(State())
    /// For callers that can't suspend: the process's exit.
    private let semaphore = DispatchSemaphore(value: 0)

    /// Whether the thread has ended.
    var hasCome: Bool { state.withLock(\.hasCome) }

    func comes() {
        let waiting = state.withLock { state in
            state.hasCome = true
            defer { state.waiting = [] }
            return state.waiting
        }
        semaphore.signal()
        for continuation in waiting { continuation.resume() }
    }

    func wait() async {
        await withCheckedContinuation { continuation in
            let hasCome = state.withLock { state in
                if !state.hasCome { state.waiting.append(continuation) }
                return state.hasCome
            }
            if hasCome { continuation.resume() }
        }
    }

    func wait(atMost seconds: Double) { _ = semaphore.wait(timeout: .now() + seconds) }
}
