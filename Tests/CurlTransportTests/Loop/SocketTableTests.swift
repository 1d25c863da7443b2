import NetworkCore
import TestSupport
import Testing

@testable import CurlTransport

@Suite("Sockets of kept connections")
struct KeptSocketsTests {
    private var kept = KeptSockets()
    private let place = KeptSockets.Place.port(1_000)

    @Test mutating func `a connection is known by its place until it closes`() {
        kept.made(5, from: place, serves: true)
        #expect(kept.use(from: place, serves: true).map(\.descriptor) == [5])
        #expect(kept.use(from: .port(1_001), serves: true).isEmpty)
        #expect(kept.use(from: .unix(.path("/a")), serves: true).isEmpty)
        kept.closed(5)
        #expect(kept.use(from: place, serves: true).isEmpty)
    }

    @Test(arguments: [KeptSockets.Place.port(1_000), .unix(.path("/run/a"))])
    mutating func `connections of one place are all of them`(place: KeptSockets.Place) {
        kept.made(5, from: place, serves: true)
        kept.made(6, from: place, serves: false)
        #expect(kept.use(from: place, serves: false).map(\.hasServed) == [true, false])
        kept.closed(5)
        #expect(kept.use(from: place, serves: true).map(\.descriptor) == [6])
    }

    @Test mutating func `a descriptor that comes back is another connection`() {
        kept.made(5, from: place, serves: true)
        kept.made(5, from: .port(1_001), serves: true)
        #expect(kept.use(from: place, serves: true).isEmpty)
        #expect(kept.use(from: .port(1_001), serves: true) == [.init(descriptor: 5, hasServed: true)])
    }

    @Test mutating func `a connection made ahead has served no request`() {
        kept.made(5, from: place, serves: false)
        #expect(kept.use(from: place, serves: false).map(\.hasServed) == [false])
        #expect(kept.use(from: place, serves: true).map(\.hasServed) == [false])
        #expect(kept.use(from: place, serves: true).map(\.hasServed) == [true])
    }
}

@Suite("Interests registered with epoll")
struct SocketInterestsTests {
    private func changes(_ sockets: inout SocketInterests) -> [SocketInterests.Change] {
        var changes: [SocketInterests.Change] = []
        sockets.takeChanges { changes.append($0) }
        return changes
    }

    @Test func `a new descriptor is added before the wait`() {
        var sockets = SocketInterests()
        sockets.opened(7)
        #expect(sockets.want(.write, of: 7) == nil)
        #expect(changes(&sockets) == [.init(kind: .add, descriptor: 7, interest: .write)])
        #expect(changes(&sockets).isEmpty)
    }

    @Test func `a removal and a read of a kept connection cancel out`() {
        var sockets = SocketInterests()
        sockets.opened(7)
        _ = sockets.want(.read, of: 7)
        _ = changes(&sockets)
        _ = sockets.want([], of: 7)
        _ = sockets.want(.read, of: 7)
        #expect(changes(&sockets).isEmpty)
    }

    @Test func `another interest is a modification`() {
        var sockets = SocketInterests()
        sockets.opened(7)
        _ = sockets.want([.read, .write], of: 7)
        _ = changes(&sockets)
        _ = sockets.want(.read, of: 7)
        #expect(changes(&sockets) == [.init(kind: .modify, descriptor: 7, interest: .read)])
    }

    @Test func `an unwanted descriptor is deleted and no longer wanted`() {
        var sockets = SocketInterests()
        sockets.opened(7)
        _ = sockets.want(.read, of: 7)
        _ = changes(&sockets)
        #expect((sockets.pool(wanting: 7) != nil))
        _ = sockets.want([], of: 7)
        #expect(!(sockets.pool(wanting: 7) != nil))
        #expect(changes(&sockets) == [.init(kind: .delete, descriptor: 7, interest: [])])
    }

    @Test func `a number that comes back as another descriptor is added again`() {
        var sockets = SocketInterests()
        sockets.opened(7)
        _ = sockets.want(.read, of: 7)
        _ = changes(&sockets)
        _ = sockets.want([], of: 7)
        sockets.closed(7)
        sockets.opened(7)
        _ = sockets.want(.read, of: 7)
        #expect(changes(&sockets) == [.init(kind: .add, descriptor: 7, interest: .read)])
    }

    @Test func `a descriptor that libcurl opened itself is told at once`() {
        var sockets = SocketInterests()
        #expect(sockets.want(.read, of: 9) == .init(kind: .add, descriptor: 9, interest: .read))
        #expect(sockets.want([], of: 9) == .init(kind: .delete, descriptor: 9, interest: []))
        #expect(sockets.want(.read, of: 9) == .init(kind: .add, descriptor: 9, interest: .read))
        #expect(changes(&sockets).isEmpty)
    }

    @Test func `a descriptor never seen is not wanted`() { #expect(SocketInterests().pool(wanting: 4096) == nil) }
}

@Suite("Deadlines")
struct DeadlineHeapTests {
    private func time(_ nanoseconds: Int) -> MonotonicTime { MonotonicTime(nanoseconds: Int64(nanoseconds)) }

    @Test func `the earliest is due first`() {
        var heap = DeadlineHeap()
        heap.set(0, noLaterThan: time(30))
        heap.set(1, noLaterThan: time(10))
        heap.set(2, noLaterThan: time(20))
        #expect(heap.earliest == time(10))
        #expect(heap.popDue(time(25)) == 1)
        #expect(heap.popDue(time(25)) == 2)
        #expect(heap.popDue(time(25)) == nil)
        #expect(heap.earliest == time(30))
    }

    /// Regression: a check that was only to come soon postponed a timeout.
    @Test func `an earlier deadline stays`() {
        var heap = DeadlineHeap()
        heap.set(0, noLaterThan: time(10))
        heap.set(0, noLaterThan: time(20))
        #expect(heap.earliest == time(10))
        heap.set(0, noLaterThan: time(5))
        heap.set(1, noLaterThan: time(7))
        #expect(heap.popDue(time(100)) == 0 && heap.popDue(time(100)) == 1 && heap.earliest == nil)
    }

    @Test func `the heap agrees with a sorted list under random use`() {
        var random = SeededGenerator(seed: 7)
        var heap = DeadlineHeap()
        var model: [Int: Int] = [:]
        for step in 0..<20_000 {
            let slot = Int.random(in: 0..<200, using: &random)
            if Bool.random(using: &random) {
                // Distinct times, so that there is only one order.
                let at = Int.random(in: 0..<1_000, using: &random) * 20_000 + step
                heap.set(slot, noLaterThan: time(at))
                model[slot] = min(at, model[slot] ?? at)
            } else if let first = model.min(by: { $0.value < $1.value }) {
                #expect(heap.popDue(time(first.value)) == first.key)
                model[first.key] = nil
            }
            #expect(heap.earliest == model.values.min().map { time($0) })
        }
    }
}
