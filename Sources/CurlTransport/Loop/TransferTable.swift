/// The transfers of a loop, by their slots.
struct TransferTable {
    private var slots: [Transfer?] = []
    private var free: [Int] = []
    /// How many are there although their callers have had their answers.
    private var givenUp = 0

    var isEmpty: Bool { slots.count == free.count }
    /// Whether no caller waits for any of them.
    var areGivenUp: Bool { slots.count == free.count + givenUp }
    /// Those that there are, in no order.
    var all: [Transfer] { slots.compactMap(\.self) }

    /// The transfer of a slot; `nil` for a slot that is free.
    subscript(slot: Int) -> Transfer? { slots[slot] }

    /// Gives the transfer a slot.
    mutating func insert(_ transfer: Transfer) {
        transfer.slot = free.popLast() ?? slots.count
        if transfer.slot == slots.count { slots.append(transfer) } else { slots[transfer.slot] = transfer }
    }

    /// The transfer's caller has had the answer, and only its look-up keeps it here.
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
