import CLibrary
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

/// Stops the loops when the process exits, so that no transfer runs while libraries are unloaded.
enum ProcessExit {
    private struct Entry: Sendable {
        weak var loop: CurlLoop?
    }

    private struct State {
        var loops: [Entry] = []
        /// Whether the process exits, so that no loop may begin.
        var hasBegun = false
    }

    private static let state = Guarded(State())
    /// How long the process's exit waits for one loop, in seconds.
    private static let patience = 1.0

    /// The process that registered the handler: a forked child has the handler, but no loop's thread.
    private static let registered: pid_t = {
        atexit { ProcessExit.stopAll() }
        return getpid()
    }()

    /// Makes a loop, which is stopped at exit.
    /// - Throws: ``NetworkError/Code/shutDown`` if the process exits; the errors of `make`.
    static func stopping(_ make: () throws -> CurlLoop) throws -> CurlLoop {
        _ = registered
        // Under the lock: a thread that starts while libraries are unloaded would be stopped by nothing.
        return try state.withLock { state in
            guard !state.hasBegun else { throw NetworkError.shutDown(.preparing) }
            let loop = try make()
            state.loops.removeAll { $0.loop == nil }
            state.loops.append(Entry(loop: loop))
            return loop
        }
    }

    private static func stopAll() {
        guard getpid() == registered else { return }
        let running = state.withLock { state in
            state.hasBegun = true
            return state.loops.compactMap(\.loop)
        }
        for loop in running { loop.shutDown(within: .zero) }
        // The thread that exits may be a loop's own, which can't end while it waits.
        for loop in running where !loop.executor.isCurrent { loop.end.wait(atMost: patience) }
    }
}
