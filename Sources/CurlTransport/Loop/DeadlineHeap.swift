/// One deadline per slot, the earliest first. Setting, moving, and removing take O(log n), so a request that ends in
/// time leaves nothing behind.
struct DeadlineHeap {
    private var heap: [(time: MonotonicTime, slot: Int)] = []
    /// The index of each slot in the heap; -1 for a slot without a deadline.
    private var position: [Int] = []

    var isEmpty: Bool { heap.isEmpty }

    /// The earliest deadline.
    var earliest: MonotonicTime? { heap.first?.time }

    /// Sets or moves a slot's deadline.
    mutating func set(_ slot: Int, to time: MonotonicTime) {
        while position.count <= slot { position.append(-1) }
        if position[slot] >= 0 {
            heap[position[slot]].time = time
        } else {
            position[slot] = heap.count
            heap.append((time, slot))
        }
        siftUp(position[slot])
        siftDown(position[slot])
    }

    /// Sets a slot's deadline unless it has an earlier one.
    mutating func set(_ slot: Int, noLaterThan time: MonotonicTime) {
        if slot < position.count, position[slot] >= 0, heap[position[slot]].time <= time { return }
        set(slot, to: time)
    }

    mutating func remove(_ slot: Int) {
        guard slot < position.count, position[slot] >= 0 else { return }
        let hole = position[slot]
        position[slot] = -1
        let last = heap.removeLast()
        guard hole < heap.count else { return }
        heap[hole] = last
        position[last.slot] = hole
        siftUp(hole)
        siftDown(position[last.slot])
    }

    /// Removes and returns the slot with the earliest deadline if it is due.
    mutating func popDue(_ now: MonotonicTime) -> Int? {
        guard let first = heap.first, first.time <= now else { return nil }
        remove(first.slot)
        return first.slot
    }

    private mutating func siftUp(_ start: Int) {
        var child = start
        while child > 0 {
            let parent = (child - 1) / 2
            guard heap[child].time < heap[parent].time else { return }
            swap(child, parent)
            child = parent
        }
    }

    private mutating func siftDown(_ start: Int) {
        var parent = start
        while true {
            var smallest = parent
            let (left, right) = (2 * parent + 1, 2 * parent + 2)
            if left < heap.count, heap[left].time < heap[smallest].time { smallest = left }
            if right < heap.count, heap[right].time < heap[smallest].time { smallest = right }
            guard smallest != parent else { return }
            swap(parent, smallest)
            parent = smallest
        }
    }

    private mutating func swap(_ left: Int, _ right: Int) {
        heap.swapAt(left, right)
        position[heap[left].slot] = left
        position[heap[right].slot] = right
    }
}
