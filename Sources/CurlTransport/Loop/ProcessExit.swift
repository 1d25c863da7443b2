import CLibrary
import NetworkCore
import Synchronization

/// Stops the loops when the process exits, so that no transfer runs while libraries are unloaded.
enum ProcessExit {
    private struct Entry: Sendable {
        weak var loop: CurlLoop?
    }

    private static let loops = Guarded<[Entry]>([])
    /// How long the process's exit waits for one loop, in seconds.
    private static let patience = 1.0

    /// The process that registered the handler: a forked child has the handler, but no loop's thread.
    private static let registered: pid_t = {
        atexit { ProcessExit.stopAll() }
        return getpid()
    }()

    /// Registers a loop to be stopped at exit.
    static func stop(_ loop: CurlLoop) {
        _ = registered
        loops.withLock { entries in
            entries.removeAll { $0.loop == nil }
            entries.append(Entry(loop: loop))
        }
    }

    private static func stopAll() {
        guard getpid() == registered else { return }
        let running = loops.withLock { $0.compactMap(\.loop) }
        for loop in running { loop.shutDown(within: .zero) }
        // The thread that exits may be a loop's own, which can't end while it waits.
        for loop in running where !loop.executor.isCurrent { loop.end.wait(atMost: patience) }
    }
}
