import NetworkCore
import Synchronization

/// The loops of one dispatcher. Each origin has one loop, so that its connections are in one place.
final class LoopGroup: Sendable {
    private struct State {
        var loops: [Int: CurlLoop] = [:]
        var isShutDown = false
    }

    private let limits: LoopLimits
    private let state = Guarded(State())

    init(limits: LoopLimits) { self.limits = limits }

    /// Returns the origin's loop. Its first request starts it; if that failed, the next one tries again.
    /// - Throws: ``NetworkError/Code/shutDown``, or the error that keeps a thread from starting.
    func loop(of origin: Origin) throws -> CurlLoop {
        try loop(limits.loops == 1 ? 0 : Int(UInt(bitPattern: origin.hashValue) % UInt(limits.loops)))
    }

    /// Returns the first loop, and starts it if needed.
    /// - Throws: The same errors as ``loop(of:)``.
    func first() throws -> CurlLoop { try loop(0) }

    private func loop(_ index: Int) throws -> CurlLoop {
        try state.withLock { state in
            guard !state.isShutDown else { throw NetworkError.shutDown(.preparing) }
            if let loop = state.loops[index] { return loop }
            let loop = try ProcessExit.stopping { try CurlLoop(limits: limits.ofOneLoop) }
            state.loops[index] = loop
            return loop
        }
    }

    /// The loops that have been started.
    var started: [CurlLoop] { state.withLock { Array($0.loops.values) } }

    /// Refuses new requests; running and waiting ones may end within `patience`. Returns at once.
    /// - Returns: The loops that now end.
    @discardableResult
    func shutDown(within patience: Duration) -> [CurlLoop] {
        let loops = state.withLock { state in
            state.isShutDown = true
            return Array(state.loops.values)
        }
        for loop in loops { loop.shutDown(within: patience) }
        return loops
    }
}

/// The limits of a dispatcher's loops.
struct LoopLimits: Sendable {
    /// The maximum number of transfers that run at once to one origin.
    var perOrigin = 128
    /// The maximum number of transfers that run at once, and of connections, in the loops that share the origins.
    var inAll = standardInAll
    /// The maximum number of transfers that wait, in each loop.
    var waiting = 100_000
    /// The number of loops, each with a thread.
    var loops = 1
    /// Whether the threads are scheduled in batches (SCHED_BATCH).
    var runInBatches = false
    /// Whether no certificate is checked.
    var trustsAnyServer = false

    /// The maximum number of pools of a loop. Each takes two descriptors besides its connections.
    var pools: Int { min(max(inAll / 8, 4), 256) }

    /// The limits of one of the loops.
    var ofOneLoop: LoopLimits {
        var limits = self
        limits.inAll = max(1, inAll / loops)
        return limits
    }

    /// Three quarters of the process's descriptors (RLIMIT_NOFILE), at most 8,192.
    static var standardInAll: Int { max(1, min(8192, (SystemFigures.maximumDescriptors ?? 1024) / 4 * 3)) }
}
