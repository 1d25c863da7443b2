/// The transfers of a loop, by their slots.
struct TransferTable {
    private var slots: [Transfer?] = []
    private var free: [Int] = []

    var isEmpty: Bool { slots.count == free.count }
    /// Whether no caller waits for any of the transfers.
    var allLinger: Bool { slots.allSatisfy { $0?.life.isLingering ?? true } }
    /// All transfers, in no particular order.
    var all: [Transfer] { slots.compactMap(\.self) }

    /// The transfer of a slot; `nil` for a free slot.
    subscript(slot: Int) -> Transfer? { slots[slot] }

    /// Assigns a slot to the transfer.
    mutating func insert(_ transfer: Transfer) {
        transfer.slot = free.popLast() ?? slots.count
        if transfer.slot == slots.count { slots.append(transfer) } else { slots[transfer.slot] = transfer }
    }

    /// Frees the transfer's slot.
    mutating func remove(_ transfer: Transfer) {
        slots[transfer.slot] = nil
        free.append(transfer.slot)
        transfer.slot = -1
    }
}
