import TestSupport
import Testing

@testable import CurlTransport

@Suite("Admission of transfers")
struct AdmissionTests {
    private let first = Origin.name("a")
    private let second = Origin.name("b")

    @Test func `requests up to the origin's limit run, and the others follow in order`() {
        var desk = Desk(perOrigin: 2, inAll: 10)
        #expect(desk.arrive(0..<4, at: first) == [.run, .run, .wait, .wait])
        #expect(desk.arrive(4, at: second) == .run)
        #expect((0..<3).map { desk.leave($0) } == [[2], [3], []])
        #expect(desk.admission.waiting == 0)
    }

    @Test func `the common limit holds across origins`() {
        var desk = Desk(perOrigin: 5, inAll: 2)
        let arrivals = [(0, first), (1, second), (2, second), (3, first)].map { desk.arrive($0, at: $1) }
        #expect(arrivals == [.run, .run, .wait, .wait])
        #expect((0..<2).map { desk.leave($0) } == [[2], [3]])
    }

    /// Regression: new hosts took each place that became free, and a known host's next request never had one.
    @Test func `a request to a known host has its turn among requests to new ones`() {
        var desk = Desk(perOrigin: 10, inAll: 2)
        #expect(desk.arrive(0, at: first) == .run)
        #expect(desk.resolve(0).isEmpty)
        #expect(desk.arrive(1...2, at: first) == [.run, .wait])
        for slot in 3...5 { #expect(desk.arrive(slot, at: .name("host\(slot)")) == .wait) }
        #expect((0..<3).map { desk.leave($0) } == [[2], [3], [4]])
        #expect(desk.arrive(6, at: first) == .wait)
        #expect((3..<5).map { desk.leave($0) } == [[5], [6]])
    }

    @Test func `a full queue refuses`() {
        var desk = Desk(perOrigin: 1, inAll: 1, maximumQueued: 1)
        #expect(desk.arrive(0...2, at: first) == [.run, .wait, .refused])
        #expect(desk.leave(0) == [1])
        #expect(desk.arrive(3, at: first) == .wait)
    }

    /// With another origin, both wait behind its gate.
    @Test(arguments: [true, false]) func `a request that withdraws lets the next one pass`(isSameOrigin: Bool) {
        var desk = Desk(perOrigin: 1, inAll: isSameOrigin ? 10 : 1)
        #expect(desk.arrive(0, at: first) == .run)
        #expect(desk.arrive(1...2, at: isSameOrigin ? first : second) == [.wait, .wait])
        #expect(desk.withdraw(1).isEmpty)
        #expect(desk.leave(0) == [2])
    }

    // MARK: Lookups

    @Test func `a few requests enter an origin until its name is resolved`() {
        var desk = Desk(perOrigin: 100, inAll: 100)
        #expect(desk.arrive(0..<50, at: first).filter { $0 == .run }.count == Admission.coldLimit)
        #expect(desk.resolve(0) == Array(Admission.coldLimit..<50))
        #expect(desk.resolve(1).isEmpty)
        for slot in 0..<50 { #expect(desk.leave(slot).isEmpty) }
        #expect(desk.admission.lookingUp == 0)
        // The origin stays warm while it is idle.
        #expect(desk.arrive(50..<100, at: first).allSatisfy { $0 == .run })
        #expect(desk.lookingUp.isEmpty)
    }

    /// Eight long polls go through a proxy, over kept connections: no socket is opened, but their requests go out.
    @Test func `an origin is warmed by a transfer that has a connection, and one that fails lets the next one try`() {
        var desk = Desk(perOrigin: 100, inAll: 100)
        desk.arrive(0..<11, at: first)
        #expect((0..<2).map { desk.leave($0) } == [[8], [9]])
        #expect(desk.resolve(3) == [10])
    }

    @Test func `lookups of all origins together are bounded, and hold up no origin that is resolved`() {
        var desk = Desk(perOrigin: 100, inAll: 10_000)
        #expect(desk.arrive(0, at: first) == .run)
        #expect(desk.resolve(0).isEmpty)
        for slot in 1...1_000 { desk.arrive(slot, at: .name("dead\(slot)")) }
        #expect(desk.lookingUp.count == Admission.maximumLookUps)
        #expect(desk.arrive(1_001, at: first) == .run)
        // Each lookup that ends lets another name be looked up.
        #expect(desk.leave(desk.lookingUp.keys.min()!).count == 1)
        #expect(desk.lookingUp.count == Admission.maximumLookUps)
        while let slot = desk.lookingUp.keys.min() { _ = desk.leave(slot) }
        #expect(desk.admission.waiting == 0 && desk.admission.lookingUp == 0)
    }

    /// Regression: eight hanging names held all lookups, with eight each, and the requests to all other names waited.
    @Test func `a few names that hang do not hold all lookups`() {
        var desk = Desk(perOrigin: 100, inAll: 10_000)
        for slot in 0..<3_500 { desk.arrive(slot, at: .name("dead\(slot % 35)")) }
        #expect(desk.lookingUp.count < Admission.maximumLookUps)
        #expect(desk.arrive(10_000, at: first) == .run)
        #expect(desk.resolve(10_000).isEmpty)
        // A hanging lookup that ends makes room for one, not for as many as its origin could have alone.
        for slot in desk.lookingUp.keys.sorted() { _ = desk.leave(slot) }
        #expect(desk.lookingUp.count < Admission.maximumLookUps)
        #expect(desk.arrive(10_001, at: second) == .run)
    }

    @Test func `names that wait for a turn have the same share of the lookups`() {
        var desk = Desk(perOrigin: 100, inAll: 1)
        #expect(desk.arrive(0, at: .address("192.0.2.1")) == .run)
        for slot in 1...800 { desk.arrive(slot, at: .name("dead\(slot % 8)")) }
        desk.arrive(1_000, at: first)
        var begun: [Int] = []
        for _ in 0..<41 { begun += desk.leave(begun.last ?? 0) }
        #expect(begun.contains(1_000))
    }

    /// Regression: with twenty long polls over kept connections, and a lookup for a new connection that was given up,
    /// no request passed until thirteen of the polls had ended.
    @Test func `running requests to an origin do not hold up a lookup of its name`() {
        var desk = Desk(perOrigin: 100, inAll: 1_000)
        desk.arrive(0...20, at: first)
        #expect(desk.resolve(0).count == 13)
        for slot in 1..<8 { #expect(desk.resolve(slot).isEmpty) }
        desk.giveUp(20)
        #expect(desk.arrive(21, at: first) == .run)
        #expect(desk.lookingUp.count == 2)
        #expect(desk.leave(20).isEmpty)
        #expect(desk.resolve(21).isEmpty)
        #expect(desk.admission.lookingUp == 0)
    }

    @Test func `a request that waits to look up a name runs when another has resolved it`() {
        var desk = Desk(perOrigin: 100, inAll: 10_000)
        for slot in 1..<Admission.maximumLookUps { desk.arrive(slot, at: .name("dead\(slot)")) }
        #expect(desk.arrive(100...102, at: first) == [.run, .wait, .wait])
        #expect(desk.resolve(100) == [101, 102])
        #expect(desk.withdraw(101).isEmpty)
    }

    @Test func `a name whose lookup was given up is cold again`() {
        var desk = Desk(perOrigin: 100, inAll: 100)
        desk.arrive(0, at: first)
        _ = desk.resolve(0)
        desk.giveUp(0)
        #expect(desk.arrive(1..<20, at: first).filter { $0 == .run }.count == Admission.coldLimit - 1)
        #expect(desk.resolve(1).count == 12)
    }

    @Test func `idle origins are forgotten beyond a number`() {
        var desk = Desk(perOrigin: 1, inAll: 1, maximumQueued: 1)
        for number in 0..<5_000 {
            #expect(desk.arrive(0, at: .name("host\(number)")) == .run)
            _ = desk.resolve(0)
            _ = desk.leave(0)
        }
        #expect(desk.admission.originCount <= 1_025)
    }

    /// The time of a withdrawal does not depend on the number of waiting slots. Regression: 100,000 withdrawals took a
    /// second.
    @Test func `a hundred thousand requests withdraw in any order, each as fast as one of a few`() {
        func withdraw(_ count: Int) {
            var random = SeededGenerator(seed: 3)
            var desk = Desk(perOrigin: 1, inAll: 10, maximumQueued: 200_000)
            desk.arrive(0...count, at: first)
            let none = (1...count).shuffled(using: &random).allSatisfy { desk.withdraw($0).isEmpty }
            #expect(none && desk.admission.waiting == 0)
            #expect(desk.leave(0).isEmpty)
        }
        let few = cost(rounds: 3) { withdraw(5_000) }
        #expect(!costsMore(than: few * 20 * 4) { withdraw(100_000) })
    }

    /// A connect timeout is for a lookup, and not for the wait for a place.
    @Test func `a slot waits for a lookup or for a place`() {
        func waits(_ slot: Int, _ origin: Origin, _ desk: inout Desk) -> Bool {
            desk.admission.waitsForLookUp(slot, of: origin)
        }
        var full = Desk(perOrigin: 1, inAll: 2)
        for slot in 0..<4 { full.arrive(slot, at: slot < 2 ? first : second) }
        // One of its own origin runs; the limit in all.
        #expect(!waits(1, first, &full) && !waits(3, second, &full))
        var cold = Desk(perOrigin: 100, inAll: 100)
        cold.arrive(0...Admission.coldLimit, at: first)
        #expect(waits(Admission.coldLimit, first, &cold))
        _ = cold.resolve(0)
        #expect(!waits(Admission.coldLimit, first, &cold))
        var crowded = Desk(perOrigin: 100, inAll: 100)
        let last = Admission.maximumLookUps
        for slot in 0...last { crowded.arrive(slot, at: .name("h\(slot)")) }
        #expect(waits(last, .name("h\(last)"), &crowded))
        // Places that lookups hold whose callers are gone.
        var lingering = Desk(perOrigin: 100, inAll: 2)
        lingering.arrive(0..<3, at: first)
        #expect(!waits(2, first, &lingering))
        let isLookingUp = lingering.admission.chill(first, isLookingUp: true)
        #expect(waits(2, first, &lingering))
        let started = lingering.admission.leave(first, isLookingUp: isLookingUp, isLingering: true)
        #expect(started.map(\.slot) == [2])
    }

    /// Regression: an origin counted as resolved for good, and libcurl's lookups after its cache had forgotten the name
    /// counted for nothing.
    @Test func `a forgotten name has the limits of lookups again`() {
        var desk = Desk(perOrigin: 200, inAll: 200)
        #expect(desk.arrive(0, at: first) == .run && desk.lookingUp.count == 1)
        #expect(desk.resolve(0).isEmpty)
        #expect(desk.arrive(1...100, at: first).allSatisfy { $0 == .run } && desk.lookingUp.isEmpty)
        let allowed = (1...100).filter { _ in desk.admission.beginLookUp(of: first) }
        #expect(allowed.count == Admission.coldLimit && desk.admission.lookingUp == Admission.coldLimit)
        // The others leave and wait.
        for slot in 9...100 {
            #expect(desk.leave(slot).isEmpty)
            #expect(desk.arrive(slot, at: first) == .wait)
        }
        // One lookup that ends lets all of them start.
        #expect(desk.admission.resolved(first).count == 92)
        #expect(desk.admission.lookingUp == Admission.coldLimit - 1)
    }

    /// Regression: with a short queue, requests to a cold name were refused far below the origin's limit.
    @Test func `a request that lookups alone hold up is not one too many`() {
        var desk = Desk(perOrigin: 20, inAll: 30, maximumQueued: 0)
        let arrivals = desk.arrive(0..<21, at: first)
        #expect(arrivals.prefix(Admission.coldLimit).allSatisfy { $0 == .run })
        #expect(arrivals[Admission.coldLimit..<20].allSatisfy { $0 == .wait } && arrivals[20] == .refused)
        let others = desk.arrive(21..<32, at: second)
        #expect(!others.prefix(10).contains(.refused) && others[10] == .refused)
        // Three of the 30 places are for origins that hold none.
        #expect(desk.resolve(0).count == 11)
    }

    // MARK: Reserved places

    /// Regression: six slow origins held all places of a process with 1,024 descriptors, and a seventh waited.
    @Test func `a part of the places is for origins that hold none`() {
        var desk = Desk(perOrigin: 16, inAll: 64)
        func origin(_ number: Int) -> Origin { .address("127.0.0.\(number)") }
        let began = (0..<6).map { number in
            desk.arrive(number * 16..<(number + 1) * 16, at: origin(number)).count { $0 == .run }
        }
        #expect(began.reduce(0, +) == 64 - 8 + 2)
        // Of the last two origins, those that held no place got one of the reserved ones each.
        #expect(began == [16, 16, 16, 8, 1, 1])
        #expect([(100, 7), (101, 8), (102, 7)].map { desk.arrive($0, at: origin($1)) } == [.run, .run, .wait])
        // A place that becomes free within the reserve is for none of those that wait.
        #expect(desk.leave(0).isEmpty)
        for slot in [16, 17, 32] { _ = desk.leave(slot) }
        #expect(desk.leave(33).count == 1)
    }

    /// Regression: the second request of an origin waited behind those of slow servers, and so did each one after it.
    @Test func `the reserved places are for each request of an origin that holds none`() {
        var desk = Desk(perOrigin: 20, inAll: 16)
        let fast = Origin.address("10.0.0.2")
        desk.arrive(0..<16, at: .address("10.0.0.1"))
        #expect(desk.admission.running == 14)
        #expect(desk.arrive(100, at: fast) == .run)
        for slot in 101..<110 {
            #expect(desk.arrive(slot, at: fast) == .wait)
            #expect(desk.leave(slot - 1) == [slot])
        }
        // One that is withdrawn leaves its place to the next one.
        #expect(desk.arrive(110...111, at: fast) == [.wait, .wait])
        #expect(desk.withdraw(110) == [])
        #expect(desk.leave(109) == [111])
        #expect(desk.lookingUp.isEmpty)
    }
}
