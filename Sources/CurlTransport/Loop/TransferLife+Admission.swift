/// The events of a transfer's life that ``Admission`` counts. What is counted when a transfer arrives and while it runs
/// is given back at its end, whatever came between. Each event returns the turns of other transfers that it leads to.
extension TransferLife {
    enum Arrival { case ready, waiting, refused }

    /// Records that the transfer arrives at the loop, or returns to the queue after ``end(_:of:in:)``.
    mutating func arrive(_ slot: Int, at origin: Origin, in admission: inout Admission) -> Arrival {
        assert(self == .outside, "arrives while \(self)")
        switch admission.arrive(slot, at: origin) {
        case .run(let turn):
            self = .admitted(.ready, isLookingUp: turn.isLookingUp)
            return .ready
        case .wait:
            self = .waiting
            return .waiting
        case .refused: return .refused
        }
    }

    /// Records that the transfer's turn has come.
    mutating func take(_ turn: Admission.Turn) {
        assert(self == .waiting, "gets its turn while \(self)")
        self = .admitted(.ready, isLookingUp: turn.isLookingUp)
    }

    /// Records that the lookup of the transfer's name has ended, if it counts as one.
    mutating func nameIsResolved(of origin: Origin, in admission: inout Admission) -> [Admission.Turn] {
        guard case .admitted(let stage, isLookingUp: true) = self else { return [] }
        self = .admitted(stage, isLookingUp: false)
        return admission.resolved(origin)
    }

    /// Returns whether libcurl may look up the transfer's name now. If not, the transfer begins again from the queue.
    ///
    /// A name that libcurl's cache has forgotten is looked up for a transfer that did not count as a lookup.
    mutating func mayLookUp(_ origin: Origin, in admission: inout Admission) -> Bool {
        guard case .admitted(let stage, isLookingUp: false) = self, !origin.isAddress else { return true }
        guard admission.beginLookUp(of: origin) else {
            beginAgain(.fromTheQueue)
            return false
        }
        self = .admitted(stage, isLookingUp: true)
        return true
    }

    /// Records that the transfer's caller has its result while its name is still looked up.
    mutating func linger(at origin: Origin, in admission: inout Admission) {
        // Only once: another transfer may resolve the name while this lookup hangs.
        guard case .admitted(.running, let isLookingUp) = self else { return }
        self = .admitted(.lingering, isLookingUp: admission.chill(origin, isLookingUp: isLookingUp))
    }

    /// Records that the transfer has left the loop, or the queue.
    mutating func end(_ slot: Int, of origin: Origin, in admission: inout Admission) -> [Admission.Turn] {
        defer { self = .outside }
        return switch self {
        case .outside: []
        case .waiting: admission.withdraw(slot, from: origin)
        case .admitted(let stage, let isLookingUp):
            admission.leave(origin, isLookingUp: isLookingUp, isLingering: stage == .lingering)
        }
    }
}
