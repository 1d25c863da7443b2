public import NetworkCore
import Synchronization

/// What finds the addresses of a name for an ``AddressBalancer``: the system, a registry of services, a test.
///
/// ```swift
/// struct Registry: AddressResolver {
///     func addresses(of host: String) async throws -> [AddressPolicy.Address] {
///         ["10.0.0.1", "10.0.0.2"].compactMap { AddressPolicy.Address($0) }
///     }
/// }
/// ```
public protocol AddressResolver: Sendable {
    /// Returns the addresses of a name, the preferred ones first. It must end: until then, no other lookup of the name
    /// begins.
    /// - Throws: Any error, for a name that has none or is not known.
    func addresses(of host: String) async throws -> [AddressPolicy.Address]
}

/// The system's resolver: `/etc/hosts`, DNS, and what else `/etc/nsswitch.conf` names.
///
/// The system's function blocks, so lookups have up to ``maximumThreads`` threads; more of them wait in order.
public struct SystemResolver: AddressResolver {
    /// The number of threads for the lookups of the process: 8.
    public static let maximumThreads = 8
    /// The longest time of a lookup, its wait for a thread included: 30 s. A thread that the system holds for longer
    /// stays occupied.
    public static let timeout = Duration.seconds(30)

    /// Creates the resolver.
    public init() {}

    /// Looks a name up.
    /// - Throws: ``NetworkCore/NetworkError/Code/nameNotResolved``.
    public func addresses(of host: String) async throws -> [AddressPolicy.Address] {
        let outcome = FirstOutcome<[AddressPolicy.Address]>()
        LookUpThreads.shared.run(host, outcome)
        let timer = Task {
            try await Task.sleep(for: Self.timeout)
            let words = "the system's lookup of '\(host)' took longer than \(Self.timeout) (SystemResolver)"
            outcome.finish(.failure(NetworkError(.nameNotResolved, words, phase: .connecting)))
        }
        defer { timer.cancel() }
        return try await outcome.value(orWhenCancelled: NetworkError.cancelled)
    }
}

/// The threads that look names up, and the lookups that wait for one.
private final class LookUpThreads: Sendable {
    static let shared = LookUpThreads()
    typealias LookUp = (host: String, outcome: FirstOutcome<[AddressPolicy.Address]>)
    private let state = Guarded<(waiting: [LookUp], threads: Int)>(([], 0))
    private static let maximumWaiting = 1_024

    func run(_ host: String, _ outcome: FirstOutcome<[AddressPolicy.Address]>) {
        let (isAccepted, needsThread) = state.withLock { state in
            guard state.waiting.count < Self.maximumWaiting else { return (false, false) }
            state.waiting.append((host, outcome))
            guard state.threads < SystemResolver.maximumThreads else { return (true, false) }
            state.threads += 1
            return (true, true)
        }
        if !isAccepted { return refuse(outcome, "\(Self.maximumWaiting) lookups wait") }
        if needsThread, !NameLookUp.startThread({ [self] in work() }) {
            let left = state.withLock { state in
                state.threads -= 1
                defer { if state.threads == 0 { state.waiting = [] } }
                return state.threads == 0 ? state.waiting : []
            }
            for lookUp in left { refuse(lookUp.outcome, "the system has no thread") }
        }
    }

    private func refuse(_ outcome: FirstOutcome<[AddressPolicy.Address]>, _ why: String) {
        outcome.finish(.failure(NetworkError(.overloaded, "no lookup: \(why) (SystemResolver)", phase: .queued)))
    }

    private func work() {
        while let next = take() { next.outcome.finish(NameLookUp.addresses(of: next.host)) }
    }

    private func take() -> LookUp? {
        state.withLock { state in
            if state.waiting.isEmpty {
                state.threads -= 1
                return nil
            }
            return state.waiting.removeFirst()
        }
    }
}
