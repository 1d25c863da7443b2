/// The transfers of a loop, by their slots.
struct TransferTable {
    private var slots: [Transfer?] = []
    private var free: [Int] = []

    var isEmpty: Bool { slots.count == free.count }
    /// Those that there are, in no order.
    var all: [Transfer] { slots.compactMap(\.self) }

    /// The transfer of a slot; `nil` for a slot that is free.
    subscript(slot: Int) -> Transfer? { slots[slot] }

    /// Gives the transfer a slot.
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
