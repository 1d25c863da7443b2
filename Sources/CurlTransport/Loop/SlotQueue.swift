/// Slots waiting in order, with removal from the middle.
struct SlotQueue {
    /// -1 where one was withdrawn.
    private var slots: [Int] = []
    private var head = 0
    private var withdrawn = 0

    var isEmpty: Bool { count == 0 }
    var count: Int { slots.count - head - withdrawn }

    mutating func append(_ slot: Int) { slots.append(slot) }

    mutating func popFirst() -> Int? {
        while head < slots.count {
            let slot = slots[head]
            head += 1
            defer { compact() }
            if slot >= 0 { return slot }
            withdrawn -= 1
        }
        return nil
    }

    /// - Returns: Whether it was there.
    mutating func remove(_ slot: Int) -> Bool {
        guard let index = slots[head...].firstIndex(of: slot) else { return false }
        slots[index] = -1
        withdrawn += 1
        compact()
        return true
    }

    /// Drops what was passed when it is half of the storage, so that the queue costs what it holds.
    private mutating func compact() {
        guard slots.count > 32, (head + withdrawn) * 2 > slots.count else { return }
        slots = slots[head...].filter { $0 >= 0 }
        head = 0
        withdrawn = 0
    }
}
