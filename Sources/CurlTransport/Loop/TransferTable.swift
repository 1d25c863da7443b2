/// The transfers of a loop, by their slots.
struct TransferTable {
    private var slots: [Transfer?] = []
    private var free: [Int] = []
    /// The number of transfers that stay although their callers have their results.
    private var givenUp = 0

    var isEmpty: Bool { slots.count == free.count }
    /// Whether no caller waits for any of the transfers.
    var areGivenUp: Bool { slots.count == free.count + givenUp }
    /// All transfers, in no particular order.
    var all: [Transfer] { slots.compactMap(\.self) }

    /// The transfer of a slot; `nil` for a free slot.
    subscript(slot: Int) -> Transfer? { slots[slot] }

    /// Assigns a slot to the transfer.
    mutating func insert(_ transfer: Transfer) {
        transfer.slot = free.popLast() ?? slots.count
        if transfer.slot == slots.count { slots.append(transfer) } else { slots[transfer.slot] = transfer }
    }

    /// Records that the transfer's caller has its result, and that only the lookup keeps the transfer here.
    mutating func giveUp(_ transfer: Transfer) {
        guard !transfer.isGivenUp else { return }
        transfer.isGivenUp = true
        givenUp += 1
    }

    /// Frees the transfer's slot.
    mutating func remove(_ transfer: Transfer) {
        if transfer.isGivenUp { givenUp -= 1 }
        transfer.isGivenUp = false
        slots[transfer.slot] = nil
        free.append(transfer.slot)
        transfer.slot = -1
    }
}
