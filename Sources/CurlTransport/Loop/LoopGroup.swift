import NetworkCore
import Synchronization

/// The loops of one dispatcher. Each origin has its loop, so that its connections are in one pool.
final class LoopGroup: Sendable {
    private struct State {
        var loops: [CurlLoop?]
        var isShutDown = false
    }

    private let configuration: CurlConfiguration
    private let state: Guarded<State>

    init(configuration: CurlConfiguration) {
        self.configuration = configuration
        state = Guarded(State(loops: Array(repeating: nil, count: configuration.loops)))
    }

    /// The origin's loop, started by the first request to it, and again by the next one if that failed.
    /// - Throws: ``NetworkError/Code/shutDown``; or what keeps a thread from starting.
    func loop(for origin: Origin) throws -> CurlLoop {
        try loop { count in count == 1 ? 0 : Int(UInt(bitPattern: origin.hashValue) % UInt(count)) }
    }

    /// The first loop, started if it was not.
    /// - Throws: As above.
    func first() throws -> CurlLoop { try loop { _ in 0 } }

    private func loop(at index: (_ count: Int) -> Int) throws -> CurlLoop {
        try state.withLock { state in
            guard !state.isShutDown else { throw NetworkError.shutDown }
            let index = index(state.loops.count)
            if let loop = state.loops[index] { return loop }
            let loop = try CurlLoop(configuration: configuration)
            ProcessExit.stop(loop)
            state.loops[index] = loop
            return loop
        }
    }

    /// Refuses what comes; what runs or waits may end within `patience`. Returns at once.
    /// - Returns: The loops that now end.
    @discardableResult
    func shutDown(within patience: Duration) -> [CurlLoop] {
        let loops = state.withLock { state in
            state.isShutDown = true
            return state.loops.compactMap(\.self)
        }
        for loop in loops { loop.shutDown(within: patience) }
        return loops
    }
}
