import NetworkCore

/// The pools of a loop. A key has one pool, or several once its requests go to hundreds of origins.
struct PoolTable {
    private var slots: [Pool?] = []
    private var byKey: [ConnectionKey: [Pool]] = [:]
    /// All pools, in no particular order.
    private(set) var all: [Pool] = []

    /// The number of pools without a transfer that are kept for their connections.
    static let maximumIdle = 32

    subscript(number: Int) -> Pool? { number < slots.count ? slots[number] : nil }

    /// Returns the pool of an origin's connections, or one that has a place for them.
    func pool(of key: ConnectionKey, for origin: Origin) -> Pool? {
        guard let pools = byKey[key] else { return nil }
        return pools.first { $0.has(origin) } ?? pools.first { !$0.isFull }
    }

    /// The pool of a key with the fewest origins, for one more than it should have.
    func roomiest(of key: ConnectionKey) -> Pool? { byKey[key]?.min { $0.originCount < $1.originCount } }

    /// The number of the next pool.
    var nextNumber: Int { slots.firstIndex { $0 == nil } ?? slots.count }

    mutating func insert(_ pool: Pool) {
        if pool.number == slots.count { slots.append(pool) } else { slots[pool.number] = pool }
        byKey[pool.key, default: []].append(pool)
        all.append(pool)
    }

    mutating func remove(_ pool: Pool) {
        slots[pool.number] = nil
        byKey[pool.key]?.removeAll { $0 === pool }
        if byKey[pool.key]?.isEmpty == true { byKey[pool.key] = nil }
        all.removeAll { $0 === pool }
    }

    /// The idle pool that was used the longest ago.
    var oldestIdle: Pool? { all.filter { $0.running == 0 }.min { $0.lastUsed < $1.lastUsed } }

    var idleCount: Int { all.count { $0.running == 0 } }

    /// When the first idle pool has been idle for long enough to be closed.
    var idleDeadline: MonotonicTime? { oldestIdle.map { $0.lastUsed + Pool.maximumIdle } }

    /// When libcurl next wants a call without an event, for any pool.
    var deadline: MonotonicTime? {
        var first: MonotonicTime?
        for pool in all { if let due = pool.deadline, first.map({ due < $0 }) ?? true { first = due } }
        return first
    }
}
