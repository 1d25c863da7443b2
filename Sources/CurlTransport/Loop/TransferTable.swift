/// The transfers of a loop, by their slots.
struct TransferTable {
    private var slots: [Transfer?] = []
    private var free: [Int] = []

    var isEmpty: Bool { slots.count == free.count }
    /// Whether no caller waits for any of the transfers.
    var allLinger: Bool { slots.allSatisfy { $0?.state.life.isLingering ?? true } }
    /// All transfers, in no particular order.
    var all: [Transfer] { slots.compactMap(\.self) }

    /// The transfer of a slot; `nil` for a free slot.
    subscript(slot: Int) -> Transfer? { slots[slot] }

    /// Assigns a slot to the transfer.
    mutating func insert(_ transfer: Transfer) {
        transfer.state.slot = free.popLast() ?? slots.count
        if transfer.state.slot == slots.count { slots.append(transfer) } else { slots[transfer.state.slot] = transfer }
    }

    /// Frees the transfer's slot.
    mutating func remove(_ transfer: Transfer) {
        slots[transfer.state.slot] = nil
        free.append(transfer.state.slot)
        transfer.state.slot = -1
    }
}
