/// When to look at each slot next, the earliest first. A deadline is never taken back nor made later: a look that comes
/// too early sets the next one. So the many requests that end in time cost nothing here.
struct DeadlineHeap {
    private var heap: [(time: MonotonicTime, slot: Int)] = []
    /// The index of each slot in the heap; -1 for a slot without a deadline.
    private var position: [Int] = []

    /// The earliest deadline.
    var earliest: MonotonicTime? { heap.first?.time }

    /// Sets a slot's deadline unless it has an earlier one. Takes O(log n).
    mutating func set(_ slot: Int, noLaterThan time: MonotonicTime) {
        while position.count <= slot { position.append(-1) }
        if position[slot] < 0 {
            position[slot] = heap.count
            heap.append((time, slot))
        } else if time < heap[position[slot]].time {
            heap[position[slot]].time = time
        } else {
            return
        }
        siftUp(position[slot])
    }

    /// Removes and returns the slot with the earliest deadline if it is due.
    mutating func popDue(_ now: MonotonicTime) -> Int? {
        guard let first = heap.first, first.time <= now else { return nil }
        position[first.slot] = -1
        let last = heap.removeLast()
        if !heap.isEmpty {
            heap[0] = last
            position[last.slot] = 0
            siftDown()
        }
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

    private mutating func siftDown() {
        var parent = 0
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
