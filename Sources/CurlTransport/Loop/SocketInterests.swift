/// What libcurl wants to know of each descriptor, and what epoll was told. Changes are collected and told just
/// before the next wait, so that the 'remove' and 'in' of a kept-alive connection between two requests cancel out.
struct SocketInterests {
    /// What to wait for.
    struct Interest: OptionSet, Hashable, Sendable {
        let rawValue: UInt8
        static let read = Interest(rawValue: 1)
        static let write = Interest(rawValue: 2)
    }

    /// One call of epoll_ctl.
    struct Change: Hashable, Sendable {
        enum Kind: Sendable { case add, modify, delete }
        let kind: Kind
        let descriptor: Int32
        let interest: Interest
    }

    private struct Entry {
        var wanted: Interest = []
        var told: Interest = []
        var isChanged = false
        /// Opened through our callback, so that its closing is reported too. libcurl opens others, a resolver's
        /// wake-up pair for example, and closes them silently: for those nothing may be deferred, or the number could
        /// come back as another descriptor while we believe that epoll knows it.
        var isOurs = false
    }

    private var entries: [Entry] = []
    private var changed: [Int32] = []

    /// libcurl's wish for a descriptor; an empty one is 'remove'.
    /// - Returns: A change to make at once, for descriptors whose closing is not reported.
    mutating func want(_ interest: Interest, of descriptor: Int32) -> Change? {
        makeRoom(for: descriptor)
        let index = Int(descriptor)
        entries[index].wanted = interest
        guard entries[index].isOurs else { return settle(descriptor) }
        if !entries[index].isChanged {
            entries[index].isChanged = true
            changed.append(descriptor)
        }
        return nil
    }

    /// The descriptor is new, whatever its number was before.
    mutating func opened(_ descriptor: Int32) {
        makeRoom(for: descriptor)
        entries[Int(descriptor)].told = []
        entries[Int(descriptor)].wanted = []
        entries[Int(descriptor)].isOurs = true
    }

    /// The descriptor is about to be closed, which takes it out of epoll by itself.
    mutating func closed(_ descriptor: Int32) {
        makeRoom(for: descriptor)
        entries[Int(descriptor)].told = []
        entries[Int(descriptor)].wanted = []
        entries[Int(descriptor)].isOurs = false
    }

    /// Whether the descriptor is a connection's, and none of libcurl's own.
    func isOurs(_ descriptor: Int32) -> Bool {
        Int(descriptor) < entries.count && entries[Int(descriptor)].isOurs
    }

    /// Whether an event for the descriptor is still wanted.
    func wants(_ descriptor: Int32) -> Bool {
        Int(descriptor) < entries.count && !entries[Int(descriptor)].wanted.isEmpty
    }

    /// The changes to make before the next wait.
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
