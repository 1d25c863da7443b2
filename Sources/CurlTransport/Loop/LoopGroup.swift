import NetworkCore
import Synchronization

/// The loops of one dispatcher. Each origin has its loop, so that its connections are in one pool; what must not share
/// with others has a loop of its own (``Lane``).
final class LoopGroup: Sendable {
    private struct State {
        var loops: [Lane: CurlLoop] = [:]
        var isShutDown = false
    }

    /// The most lanes that are not ordinary.
    static let maximumLanes = 16

    private let configuration: CurlNetworkDispatcher.Configuration
    private let state = Guarded(State())

    init(configuration: CurlNetworkDispatcher.Configuration) { self.configuration = configuration }

    /// The request's loop, started by the first request of its lane, and again by the next one if that failed.
    /// - Throws: ``NetworkError/Code/shutDown``; ``NetworkError/Code/invalidOption`` for one resolver too many; or what
    ///   keeps a thread from starting.
    func loop(for options: TransportOptions, to origin: Origin) throws -> CurlLoop {
        try loop(of: Lane(options, to: origin, loops: configuration.loops))
    }

    /// The first loop, started if it was not.
    /// - Throws: As above.
    func first() throws -> CurlLoop { try loop(of: Lane(index: 0)) }

    private func loop(of lane: Lane) throws -> CurlLoop {
        try state.withLock { state in
            guard !state.isShutDown else { throw NetworkError.shutDown }
            if let loop = state.loops[lane] { return loop }
            guard lane.isOrdinary || state.loops.keys.count(where: { !$0.isOrdinary }) < Self.maximumLanes else {
                throw NetworkError(
                    .invalidOption,
                    "names.dnsOverHTTPS names one resolver too many: a dispatcher serves \(Self.maximumLanes), each "
                        + "by a thread",
                    phase: .preparing)
            }
            let loop = try CurlLoop(configuration: configuration)
            ProcessExit.stop(loop)
            state.loops[lane] = loop
            return loop
        }
    }

    /// Refuses what comes; what runs or waits may end within `patience`. Returns at once.
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
