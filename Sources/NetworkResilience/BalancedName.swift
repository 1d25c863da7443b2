import CLibrary
import NetworkCore
import Synchronization

/// The addresses of one name, and what is known of them.
final class BalancedName: Sendable {
    /// An address that was chosen for a request.
    struct Pick: Sendable {
        let address: AddressPolicy.Address
        /// The options of the requests to it.
        let options: DerivedOptions
        /// The number of addresses that may be tried instead.
        let others: Int
        /// Whether it tries an address that was ejected.
        let isProbe: Bool
    }

    /// What a request says of its address.
    enum Outcome { case success, failure, unreachable, nothing }

    private struct Entry {
        let address: AddressPolicy.Address
        let options: DerivedOptions
        /// When it got its first request or returned; `nil` for those of the first lookup.
        var since: Duration?
        var requests = 0
        var inFlight = 0
        /// In seconds, as it was at `observed`; `nil` while it is not known.
        var latency: Double?
        var observed = Duration.zero
        var failuresInARow = 0
        var ejections = 0
        /// Set until a request has succeeded after the ejection.
        var ejectedUntil: Duration?
        /// Whether a request tries it. Those from before the ejection may go on for hours.
        var isProbed = false

        func mayBePicked(at now: Duration) -> Bool { ejectedUntil.map { $0 <= now && !isProbed } ?? true }

        func latency(at now: Duration, decay: Duration) -> Double? {
            latency.map { $0 * BalancedName.weight(of: now - observed, decay) }
        }

        /// The part of its share that it gets.
        func weight(at now: Duration, _ slowStart: Duration) -> Double {
            if ejectedUntil != nil { return BalancedName.leastWeight }
            guard let since, slowStart > .zero else { return 1 }
            return min(1, max(BalancedName.leastWeight, (now - since) / slowStart))
        }
    }

    private struct State {
        var key = ""
        var host = ""
        var port = 0
        var version = TransportOptions.Connection.IPVersion.any
        var entries: [Entry] = []
        var lookUp: Task<Void, any Error>?
        var lastLookUp: Duration?
        var lastSuccess: Duration?
        var lastUse = Duration.zero
        var problem: String?
    }

    private let state = Guarded(State())
    private let options: AddressBalancer.Options
    private let random: @Sendable () -> Double

    private static let leastWeight = 0.1
    /// The quotient of two loads up to which they count as equal.
    private static let tolerance = 1.25
    /// The latency below which all are equal, in seconds.
    private static let leastLatency = 0.000_05
    private static let maximumLatency = 60.0
    /// After this number of intervals without a request, one waits for the lookup.
    private static let staleAfter = 10

    init(_ options: AddressBalancer.Options, random: @escaping @Sendable () -> Double) {
        (self.options, self.random) = (options, random)
    }

    /// The name and its port.
    var name: String { state.withLock(\.key) }

    /// Returns whether the state is that of a name. The first name that asks gets a new state; others don't share it.
    func belongs(to key: String, host: String, port: Int, _ version: TransportOptions.Connection.IPVersion) -> Bool {
        state.withLock { state in
            if state.key.isEmpty { (state.key, state.host, state.port, state.version) = (key, host, port, version) }
            return state.key == key
        }
    }

    func isIdle(at now: Duration, _ options: AddressBalancer.Options) -> Bool {
        state.withLock { state in
            state.lookUp == nil && state.entries.allSatisfy { $0.inFlight == 0 }
                && now - state.lastUse > options.refreshInterval * Self.staleAfter
        }
    }

    // MARK: Lookups

    /// Begins a lookup if one is due.
    /// - Returns: The lookup that the request has to wait for.
    func lookUp(
        at now: Duration, with resolver: any AddressResolver, _ time: StepTime
    ) -> Task<Void, any Error>? {
        state.withLock { state in
            state.lastUse = now
            let age = state.lastLookUp.map { now - $0 }
            let mustWait = state.entries.isEmpty || age.map { $0 > options.refreshInterval * Self.staleAfter } ?? true
            if state.lookUp == nil, mustWait || age.map({ $0 >= options.refreshInterval }) ?? true {
                state.lastLookUp = now
                let host = state.host
                state.lookUp = Task.detached { [self] in
                    let outcome: Result<[AddressPolicy.Address], any Error>
                    do { outcome = .success(try await resolver.addresses(of: host)) } catch {
                        outcome = .failure(error)
                    }
                    try end(outcome, at: time.elapsed())
                }
            }
            return mustWait ? state.lookUp : nil
        }
    }

    /// Takes the addresses of a lookup.
    /// - Throws: The lookup's error if there are no others.
    private func end(_ outcome: Result<[AddressPolicy.Address], any Error>, at now: Duration) throws {
        try state.withLock { state in
            state.lookUp = nil
            do {
                let addresses = usable(try outcome.get(), for: state.version)
                guard !addresses.isEmpty else {
                    throw NetworkError(.nameNotResolved, "\(state.key) has no address", phase: .connecting)
                }
                (state.lastSuccess, state.problem) = (now, nil)
                take(addresses, &state, at: now)
            } catch {
                state.problem = (error as? NetworkError)?.message ?? "\(type(of: error))"
                if state.entries.isEmpty { throw error }
            }
        }
    }

    /// Returns the addresses of one version, each once.
    private func usable(
        _ addresses: [AddressPolicy.Address], for version: TransportOptions.Connection.IPVersion
    ) -> [AddressPolicy.Address] {
        let count =
            switch version {
            case .v4: 4
            case .v6: 16
            case .any: addresses.first?.bytes.count ?? 0
            }
        var seen = Set<AddressPolicy.Address>()
        return addresses.filter { $0.bytes.count == count && seen.insert($0).inserted }
    }

    private func take(_ addresses: [AddressPolicy.Address], _ state: inout State, at now: Duration) {
        let limit = min(max(1, options.addresses), AddressBalancer.Options.maximumAddresses)
        let kept = state.entries.filter { addresses.contains($0.address) }.prefix(limit)
        var new = addresses.filter { address in !kept.contains { $0.address == address } }
        if kept.count + new.count > limit { new = new.map { ($0, random()) }.sorted { $0.1 < $1.1 }.map(\.0) }
        let (host, port, isFirst) = (state.host, state.port, state.entries.isEmpty)
        state.entries =
            kept
            + new.prefix(limit - kept.count).map { address in
                let pinned = [TransportOptions.Names.StaticAddresses(host, port: port, ["\(address)"])]
                return Entry(
                    address: address, options: DerivedOptions { $0.names.addresses = pinned },
                    since: isFirst ? nil : now)
            }
    }

    // MARK: Choosing

    /// Chooses an address for a request, and counts it as in flight until ``end(_:)``.
    /// - Parameter tried: Those that the request has tried.
    func pick(besides tried: [AddressPolicy.Address], _ policy: AddressPolicy, at now: Duration) -> Pick? {
        // The policy may be a closure of the caller's, which does not run under the lock.
        let known = policy == .any ? [] : state.withLock { $0.entries.map(\.address) }
        let refused = Set(known.filter { !policy.allows($0) })
        return state.withLock { state in
            let untried = state.entries.indices.filter { !tried.contains(state.entries[$0].address) }
            let allowed = untried.filter { !refused.contains(state.entries[$0].address) }
            // If the policy allows none, the transport says so.
            let usable = allowed.isEmpty ? untried : allowed
            let healthy = usable.filter { state.entries[$0].mayBePicked(at: now) }
            guard let index = choose(healthy.isEmpty ? usable : healthy, state.entries, at: now) else { return nil }
            state.entries[index].inFlight += 1
            state.entries[index].requests += 1
            let entry = state.entries[index]
            let isProbe = entry.ejectedUntil.map { $0 <= now } ?? false
            if isProbe { state.entries[index].isProbed = true }
            return Pick(
                address: entry.address, options: entry.options, others: usable.count - 1, isProbe: isProbe)
        }
    }

    /// Takes two at random and, of these, the one with the lower load.
    private func choose(_ candidates: [Int], _ entries: [Entry], at now: Duration) -> Int? {
        guard let first = sample(candidates, entries, at: now) else { return nil }
        guard let second = sample(candidates.filter { $0 != first }, entries, at: now) else { return first }
        let mean = mean(of: entries, at: now)
        func load(_ index: Int) -> Double {
            let latency = entries[index].latency(at: now, decay: options.decay) ?? mean
            return max(latency, Self.leastLatency) * Double(entries[index].inFlight + 1)
        }
        return load(first) > load(second) * Self.tolerance ? second : first
    }

    /// The mean of the known latencies, for an address without one.
    private func mean(of entries: [Entry], at now: Duration) -> Double {
        let known = entries.compactMap { $0.latency(at: now, decay: options.decay) }
        return known.isEmpty ? 0 : known.reduce(0, +) / Double(known.count)
    }

    private func sample(_ candidates: [Int], _ entries: [Entry], at now: Duration) -> Int? {
        let weights = candidates.map { entries[$0].weight(at: now, options.slowStart) }
        var rest = random() * weights.reduce(0, +)
        for (candidate, weight) in zip(candidates, weights) {
            rest -= weight
            if rest < 0 { return candidate }
        }
        return candidates.last
    }

    // MARK: Outcomes

    private static func weight(of time: Duration, _ decay: Duration) -> Double {
        decay > .zero ? exp(-max(0, time / decay)) : 0
    }

    /// Records what a request says of its address.
    func observe(_ pick: Pick, _ outcome: Outcome, after time: Duration, at now: Duration) {
        state.withLock { state in
            guard let index = state.entries.firstIndex(where: { $0.address == pick.address }) else { return }
            if pick.isProbe { state.entries[index].isProbed = false }
            var entry = state.entries[index]
            let known = entry.latency(at: now, decay: options.decay)
            let sample = min(max(0, time / .seconds(1)), Self.maximumLatency)
            // A rise counts at once. What a cancelled request took is the least that it would have taken.
            switch outcome {
            case .success:
                let old = Self.weight(of: now - entry.observed, options.decay)
                entry.latency = known.map { sample > $0 ? sample : $0 + sample * (1 - old) } ?? sample
            case .failure, .unreachable:
                // A fast failure must not attract requests.
                entry.latency = max(sample, known ?? mean(of: state.entries, at: now))
            case .nothing:
                guard let known, sample > known else { return }
                entry.latency = sample
            }
            entry.observed = now
            switch outcome {
            case .nothing: break
            case .success:
                entry.failuresInARow = 0
                if let until = entry.ejectedUntil, until <= now { (entry.ejectedUntil, entry.since) = (nil, now) }
            case .failure, .unreachable:
                entry.failuresInARow += 1
                let isOverdue = outcome == .unreachable || entry.failuresInARow >= max(1, options.failures)
                // Those that were in flight when it was ejected say nothing new.
                let isOut = entry.ejectedUntil.map { now < $0 } ?? false
                guard isOverdue || entry.ejectedUntil != nil, !isOut else { break }
                if entry.ejectedUntil != nil || mayEject(state, at: now) {
                    eject(&entry, at: now)
                } else {
                    entry.latency = entry.latency.map { min(2 * $0, Self.maximumLatency) }
                }
            }
            state.entries[index] = entry
        }
    }

    private func mayEject(_ state: State, at now: Duration) -> Bool {
        let ejected = state.entries.count { $0.ejectedUntil != nil }
        let share = max(0, min(options.maximumEjected, 1)) * Double(state.entries.count)
        let limit = options.maximumEjected > 0 ? max(1, Int(share)) : 0
        return ejected < min(limit, state.entries.count - 1)
    }

    private func eject(_ entry: inout Entry, at now: Duration) {
        if let since = entry.since, now - since > options.maximumEjectionTime { entry.ejections = 0 }
        let time = min(options.ejectionTime * (1 << min(entry.ejections, 20)), options.maximumEjectionTime)
        entry.ejections += 1
        (entry.ejectedUntil, entry.failuresInARow, entry.latency) = (now + max(.zero, time), 0, nil)
    }

    /// Records the end of a request.
    func end(_ pick: Pick) {
        state.withLock { state in
            guard let index = state.entries.firstIndex(where: { $0.address == pick.address }) else { return }
            state.entries[index].inFlight = max(0, state.entries[index].inFlight - 1)
        }
    }

    func shown(at now: Duration) -> AddressBalancer.State {
        state.withLock { state in
            let addresses = state.entries.map { entry in
                AddressBalancer.Address(
                    address: "\(entry.address)", requests: entry.requests, inFlight: entry.inFlight,
                    latency: entry.latency(at: now, decay: options.decay).map { .seconds($0) },
                    ejected: entry.ejectedUntil.map { max(.zero, $0 - now) })
            }
            return AddressBalancer.State(
                addresses: addresses, age: state.lastSuccess.map { now - $0 }, problem: state.problem)
        }
    }
}
