import NetworkCore

/// An origin's place in a ``Pool``, with the handles that are kept for its next requests.
final class Destination {
    /// `nil` once the pool has forgotten the origin.
    private(set) var pool: Pool?
    private var handles: [(easy: EasyHandle, carried: CarriedRequest)] = []
    private var running = 0
    private var lastUsed = MonotonicTime.distantFuture

    /// The maximum number of handles that a loop keeps.
    private static let maximumHandles = 1_024

    init(pool: Pool) { self.pool = pool }

    func transferBegan() { running += 1 }

    func transferEnded(at now: MonotonicTime) {
        running -= 1
        lastUsed = now
    }

    func isIdle(since now: MonotonicTime, for time: Duration) -> Bool { running == 0 && lastUsed + time <= now }

    /// Returns a handle that a request like this one, to this origin, has left.
    func takeHandle(
        for request: TransportRequest, sending body: OutgoingBody
    ) -> (easy: EasyHandle, carried: CarriedRequest)? {
        guard let index = handles.lastIndex(where: { $0.carried.isLike(request, sending: body) }) else { return nil }
        pool?.keptHandles -= 1
        return handles.remove(at: index)
    }

    /// Keeps a handle for the next request, with the request that it was set for.
    /// - Returns: Whether there is a place for it.
    func keep(_ easy: EasyHandle, _ carried: CarriedRequest) -> Bool {
        guard let pool, pool.keptHandles < Self.maximumHandles else { return false }
        easy.leaveBody()
        pool.keptHandles += 1
        handles.append((easy, carried))
        return true
    }

    func dropHandles() {
        for handle in handles { handle.easy.close() }
        pool?.keptHandles -= handles.count
        handles = []
    }

    func drop() {
        dropHandles()
        pool = nil
    }
}
