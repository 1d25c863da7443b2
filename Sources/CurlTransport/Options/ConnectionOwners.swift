import NetworkCore
import Synchronization

/// Who may share the connections of a place, where libcurl does not compare what tells their users apart.
///
/// The first owner of a place shares its connections; for others ``claim(_:for:)`` returns `nil`, and they use
/// connections of their own. A place may get another owner when libcurl can't reuse any connection of the last one: no
/// request of it runs, and the last one has ended longer ago than a connection may be idle.
final class ConnectionOwners<Place: Hashable & Sendable, Owner: Equatable & Sendable>: Sendable {
    private struct Entry: Sendable {
        let owner: Owner
        var running = 1
        var ended: SuspendingClock.Instant?
    }

    private let entries = Guarded<[Place: Entry]>([:])
    private let now: @Sendable () -> SuspendingClock.Instant

    /// - Parameter now: The time source: a clock that stands still while the system sleeps, as the one by which libcurl
    ///   takes a connection for idle.
    init(now: @escaping @Sendable () -> SuspendingClock.Instant) { self.now = now }

    /// The number of places to remember. Connections of further places are not shared.
    static var maximum: Int { 1_024 }
    /// How long an owner is remembered after its last request: twice as long as libcurl keeps a connection for reuse.
    static var memory: Duration { .seconds(2 * HardenedDefaults.maximumConnectionIdle) }

    /// Returns a claim to share the place's connections, which the request holds for as long as it uses one; `nil` if
    /// they belong to another owner.
    func claim(_ place: Place, for owner: Owner) -> ConnectionClaim? {
        let isClaimed = entries.withLock { entries in
            if let entry = entries[place] {
                if entry.owner == owner {
                    entries[place]?.running += 1
                    return true
                }
                guard isForgotten(entry) else { return false }
            } else if entries.count >= Self.maximum {
                entries = entries.filter { !isForgotten($0.value) }
                guard entries.count < Self.maximum else { return false }
            }
            entries[place] = Entry(owner: owner)
            return true
        }
        return isClaimed ? ConnectionClaim { [self] in release(place) } : nil
    }

    private func isForgotten(_ entry: Entry) -> Bool {
        guard entry.running == 0, let ended = entry.ended else { return false }
        return now() - ended > Self.memory
    }

    /// An entry with running requests is never replaced, so it is still the claim's own.
    private func release(_ place: Place) {
        entries.withLock { entries in
            entries[place]?.running -= 1
            entries[place]?.ended = now()
        }
    }
}

/// The right of one request to share connections, until the object is gone; see ``ConnectionOwners``.
final class ConnectionClaim: Sendable {
    private let release: @Sendable () -> Void

    init(release: @escaping @Sendable () -> Void) { self.release = release }

    deinit { release() }
}

/// How a request shares connections.
struct ConnectionSharing {
    /// The options that keep the request from connections of others.
    private(set) var options: [any EasyOption] = []
    /// The claims to shared connections, held until the request has ended.
    private(set) var claims: [ConnectionClaim] = []

    /// Adds a claim, or else the options of a request that has none.
    mutating func add(_ claim: ConnectionClaim?, or options: any EasyOption...) {
        if let claim { claims.append(claim) } else { self.options += options }
    }
}
