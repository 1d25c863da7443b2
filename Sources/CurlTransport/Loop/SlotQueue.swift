/// The links between the slots in the queues of one ``Admission``. A slot is in one queue at most, so leaving the
/// middle of a queue costs the same however long the queue is.
struct SlotLinks {
    /// Where a slot waits.
    enum Place { case nowhere, origin, first, ready, lookUp }

    private struct Link {
        var previous = -1
        var next = -1
        var place = Place.nowhere
        /// The number of slots that had begun to wait before it.
        var number: UInt64 = 0
    }

    private var links: [Link] = []
    private var lastNumber: UInt64 = 0

    func place(of slot: Int) -> Place { slot < links.count ? links[slot].place : .nowhere }

    fileprivate mutating func append(_ slot: Int, after last: Int, in place: Place) {
        while links.count <= slot { links.append(Link()) }
        lastNumber += 1
        links[slot] = Link(previous: last, next: -1, place: place, number: lastNumber)
        if last >= 0 { links[last].next = slot }
    }

    fileprivate func number(of slot: Int) -> UInt64 { links[slot].number }

    /// - Returns: The slots before and after it; -1 for none.
    fileprivate mutating func remove(_ slot: Int) -> (previous: Int, next: Int) {
        let link = links[slot]
        if link.previous >= 0 { links[link.previous].next = link.next }
        if link.next >= 0 { links[link.next].previous = link.previous }
        links[slot] = Link()
        return (link.previous, link.next)
    }
}

/// Slots that wait in order.
struct SlotQueue {
    private let place: SlotLinks.Place
    private var first = -1
    private var last = -1
    private(set) var count = 0

    init(_ place: SlotLinks.Place) { self.place = place }

    var isEmpty: Bool { first < 0 }

    /// Returns whether the first slot has waited longer than the first one of another queue, or is the only one.
    func hasWaitedLonger(than other: SlotQueue, _ links: SlotLinks) -> Bool {
        guard first >= 0, other.first >= 0 else { return first >= 0 }
        return links.number(of: first) < links.number(of: other.first)
    }

    mutating func append(_ slot: Int, _ links: inout SlotLinks) {
        links.append(slot, after: last, in: place)
        if first < 0 { first = slot }
        last = slot
        count += 1
    }

    mutating func popFirst(_ links: inout SlotLinks) -> Int? {
        guard first >= 0 else { return nil }
        let slot = first
        remove(slot, &links)
        return slot
    }

    /// Removes a slot that waits in this queue.
    mutating func remove(_ slot: Int, _ links: inout SlotLinks) {
        let (previous, next) = links.remove(slot)
        if first == slot { first = next }
        if last == slot { last = previous }
        count -= 1
    }
}
