/// libcurl's interest in each descriptor, and what epoll knows of it. Changes are collected and applied just before the
/// next wait, so that the 'remove' and 'in' of a kept-alive connection between two requests cancel out.
struct SocketInterests {
    typealias Interest = Epoll.Interest
    typealias Change = Epoll.Change

    private struct Entry {
        var wanted: Interest = []
        var told: Interest = []
        var isChanged = false
        /// Whether the descriptor was opened through our callback, so that its closing is reported too. libcurl opens
        /// others, for example a resolver's wake-up pair, and closes them silently. Changes for those are never
        /// deferred, or the number could be reused for another descriptor while we believe that epoll knows it.
        var isOurs = false
        /// The number of the pool whose descriptor this is.
        var pool = 0
    }

    private var entries: [Entry] = []
    private var changed: [Int32] = []

    /// Records the interest of a pool's libcurl in a descriptor; an empty one means 'remove'.
    /// - Returns: A change to apply at once, for descriptors whose closing is not reported.
    mutating func want(_ interest: Interest, of descriptor: Int32, by pool: Int = 0) -> Change? {
        makeRoom(for: descriptor)
        let index = Int(descriptor)
        entries[index].wanted = interest
        entries[index].pool = pool
        guard entries[index].isOurs else { return settle(descriptor) }
        if !entries[index].isChanged {
            entries[index].isChanged = true
            changed.append(descriptor)
        }
        return nil
    }

    /// Records that the descriptor is new, whatever its number stood for before.
    mutating func opened(_ descriptor: Int32) {
        makeRoom(for: descriptor)
        if !entries[Int(descriptor)].isOurs { openCount += 1 }
        entries[Int(descriptor)].told = []
        entries[Int(descriptor)].wanted = []
        entries[Int(descriptor)].isOurs = true
    }

    /// Records that the descriptor is about to be closed, which also removes it from epoll.
    mutating func closed(_ descriptor: Int32) {
        makeRoom(for: descriptor)
        if entries[Int(descriptor)].isOurs { openCount -= 1 }
        entries[Int(descriptor)].told = []
        entries[Int(descriptor)].wanted = []
        entries[Int(descriptor)].isOurs = false
    }

    /// Returns whether the descriptor belongs to a connection and is not one of libcurl's own.
    func isOurs(_ descriptor: Int32) -> Bool {
        Int(descriptor) < entries.count && entries[Int(descriptor)].isOurs
    }

    /// Returns the number of the pool that still wants an event for the descriptor; `nil` for none.
    func pool(wanting descriptor: Int32) -> Int? {
        guard Int(descriptor) < entries.count, !entries[Int(descriptor)].wanted.isEmpty else { return nil }
        return entries[Int(descriptor)].pool
    }

    /// The number of open sockets of connections.
    private(set) var openCount = 0

    /// Applies the changes that are due before the next wait.
    mutating func takeChanges(_ apply: (Change) -> Void) {
        for descriptor in changed {
            entries[Int(descriptor)].isChanged = false
            if let change = settle(descriptor) { apply(change) }
        }
        changed.removeAll(keepingCapacity: true)
    }

    private mutating func settle(_ descriptor: Int32) -> Change? {
        let entry = entries[Int(descriptor)]
        guard entry.wanted != entry.told else { return nil }
        entries[Int(descriptor)].told = entry.wanted
        let kind: Change.Kind = entry.wanted.isEmpty ? .delete : entry.told.isEmpty ? .add : .modify
        return Change(kind: kind, descriptor: descriptor, interest: entry.wanted)
    }

    private mutating func makeRoom(for descriptor: Int32) {
        while entries.count <= Int(descriptor) { entries.append(Entry()) }
    }
}
