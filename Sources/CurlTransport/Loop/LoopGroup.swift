import NetworkCore
import Synchronization

/// The loops of one dispatcher. Each origin has one loop, so that its connections are in one pool; requests that must
/// not share with others have a loop of their own (``Lane``).
final class LoopGroup: Sendable {
    private struct State {
        var loops: [Lane: CurlLoop] = [:]
        var isShutDown = false

        /// Whether a lane may have that resolver.
        func takes(_ resolver: Lane.Resolver?) -> Bool {
            guard let resolver else { return true }
            let known = Set(loops.keys.compactMap(\.resolver))
            return known.contains(resolver) || known.count < LoopGroup.maximumResolvers
        }
    }

    /// The maximum number of resolvers that have lanes; one for each set of authorities.
    static let maximumResolvers = 16

    private let limits: LoopLimits
    private let state = Guarded(State())

    init(limits: LoopLimits) { self.limits = limits }

    /// Returns the request's loop. The first request of a lane starts it; if that failed, the next one tries again.
    /// - Throws: ``NetworkError/Code/shutDown``; ``NetworkError/Code/invalidOption`` for one resolver too many; or the
    ///   error that keeps a thread from starting.
    func loop(for options: TransportOptions, to origin: Origin) throws -> CurlLoop {
        try loop(of: Lane(options, to: origin, loops: limits.loops))
    }

    /// Returns the first loop, and starts it if needed.
    /// - Throws: The same errors as ``loop(for:to:)``.
    func first() throws -> CurlLoop { try loop(of: Lane(index: 0)) }

    private func loop(of lane: Lane) throws -> CurlLoop {
        try state.withLock { state in
            guard !state.isShutDown else { throw NetworkError.shutDown(.preparing) }
            // A loop whose multi handle could not be made anew has ended, without a shutdown.
            if let loop = state.loops[lane], !loop.end.hasCome { return loop }
            guard state.takes(lane.resolver) else {
                throw NetworkError(
                    .invalidOption,
                    "names.dnsOverHTTPS names one resolver too many: a dispatcher serves \(Self.maximumResolvers), "
                        + "each with threads of its own",
                    phase: .preparing)
            }
            let loop = try ProcessExit.stopping { try CurlLoop(limits: limits.of(lane)) }
            state.loops[lane] = loop
            return loop
        }
    }

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
