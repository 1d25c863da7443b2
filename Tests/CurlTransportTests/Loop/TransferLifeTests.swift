import TestSupport
import Testing

@testable import CurlTransport

/// What the loop does with transfers, without libcurl: their lives, over an admission of their own.
private struct Lives {
    static let perOrigin = 12
    static let inAll = 90

    struct Member {
        let origin: Origin
        var life = TransferLife.outside
        /// Whether its lookup began against the limit, which is how a lookup that was given up counts.
        var isUncounted = false
    }

    var admission = Admission(perOrigin: perOrigin, inAll: inAll, maximumQueued: 500)
    private(set) var members: [Int: Member] = [:]

    /// The slots of the transfers in a stage of their lives, in order.
    func slots(where matches: (TransferLife) -> Bool) -> [Int] {
        members.filter { matches($0.value.life) }.keys.sorted()
    }

    mutating func arrive(_ slot: Int, at origin: Origin) {
        members[slot] = Member(origin: origin)
        lineUp(slot)
    }

    private mutating func lineUp(_ slot: Int) {
        guard var member = members[slot] else { return }
        let arrival = member.life.arrive(slot, at: member.origin, in: &admission)
        members[slot] = arrival == .refused ? nil : member
    }

    mutating func begin(_ slot: Int) { members[slot]?.life.begin() }

    mutating func nameIsResolved(_ slot: Int) {
        guard var member = members[slot] else { return }
        let turns = member.life.nameIsResolved(of: member.origin, in: &admission)
        members[slot] = member
        take(turns)
    }

    mutating func looksUpAfterAll(_ slot: Int) {
        guard var member = members[slot] else { return }
        _ = member.life.mayLookUp(member.origin, in: &admission)
        members[slot] = member
    }

    mutating func linger(_ slot: Int) {
        guard var member = members[slot] else { return }
        member.isUncounted = !member.life.isLookingUp
        member.life.linger(at: member.origin, in: &admission)
        members[slot] = member
    }

    /// Ends a run as libcurl reports it.
    mutating func isDone(_ slot: Int) {
        guard var member = members[slot] else { return }
        let again = member.life.again
        switch again {
        case .overNewConnection:
            member.life.leaveLibcurl()
            member.life.begin()
            members[slot] = member
        case .fromTheQueue:
            end(slot, keeps: true)
            lineUp(slot)
        case nil: end(slot)
        }
    }

    mutating func end(_ slot: Int, keeps: Bool = false) {
        guard var member = members[slot] else { return }
        let turns = member.life.end(slot, of: member.origin, in: &admission)
        members[slot] = keeps ? member : nil
        take(turns)
    }

    mutating func wantsNewConnection(_ slot: Int) { members[slot]?.life.beginAgain(.overNewConnection) }

    private mutating func take(_ turns: [Admission.Turn]) {
        for turn in turns {
            #expect(members[turn.slot]?.life == .waiting, "slot \(turn.slot) gets a turn that it does not wait for")
            members[turn.slot]?.life.take(turn)
        }
    }

    /// Checks that the admission counts what the lives say.
    func check(after event: String) {
        let admitted = members.values.filter { if case .admitted = $0.life { true } else { false } }
        let lookingUp = members.values.filter(\.life.isLookingUp)
        let waiting = members.values.filter { $0.life == .waiting }
        #expect(admission.running == admitted.count, "after \(event)")
        #expect(admission.lookingUp == lookingUp.count, "after \(event)")
        #expect(admission.waiting == waiting.count, "after \(event)")
        #expect(admitted.count <= Self.inAll)
        #expect(lookingUp.count <= Admission.maximumLookUps + lookingUp.count(where: \.isUncounted))
        for (origin, its) in Dictionary(grouping: admitted, by: \.origin) {
            #expect(its.count <= Self.perOrigin, "\(origin) after \(event)")
        }
        #expect(waiting.isEmpty || !admitted.isEmpty, "nothing runs, and \(waiting.count) wait after \(event)")
    }
}

/// What is counted for a transfer is given back at its end, whatever came between.
@Suite("The life of a transfer")
struct TransferLifeTests {
    enum Event: CaseIterable {
        case arrives, arrivesToo, begins, nameIsResolved, looksUpAfterAll, wantsNewConnection, isDone, lingers
        case isCancelled
    }

    @Test(arguments: 1...4 as ClosedRange<UInt64>)
    func `no order of events leaves a count behind, or a transfer without its turn`(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var lives = Lives()
        let origins = (0..<30).map { Origin(isSecure: false, host: "h\($0)", port: 80, isAddress: $0 % 7 == 0) }
        for slot in 0..<3_000 {
            let event = Event.allCases.randomElement(using: &random)!
            func any(_ matches: (TransferLife) -> Bool) -> Int? {
                lives.slots(where: matches).randomElement(using: &random)
            }
            switch event {
            case .arrives, .arrivesToo: lives.arrive(slot, at: origins.randomElement(using: &random)!)
            case .begins: lives.slots(where: \.isReady).prefix(16).forEach { lives.begin($0) }
            case .nameIsResolved: any(\.isLookingUp).map { lives.nameIsResolved($0) }
            case .looksUpAfterAll: any { $0.isInLibcurl && !$0.isLingering }.map { lives.looksUpAfterAll($0) }
            case .wantsNewConnection: any(\.isInLibcurl).map { lives.wantsNewConnection($0) }
            case .isDone: any(\.isInLibcurl).map { lives.isDone($0) }
            case .lingers: any(\.isInLibcurl).map { lives.linger($0) }
            case .isCancelled: any { _ in true }.map { lives.end($0) }
            }
            lives.check(after: "\(event), number \(slot)")
        }
        while let slot = lives.slots(where: { $0 != .waiting }).first {
            lives.end(slot)
            lives.check(after: "the end of slot \(slot)")
        }
        #expect(lives.members.isEmpty)
    }

    /// The caller has its result already.
    @Test func `a transfer that lingers begins no more`() {
        var admission = Admission(perOrigin: 1, inAll: 1, maximumQueued: 1)
        let origin = Origin(isSecure: false, host: "a", port: 80)
        var life = TransferLife.outside
        #expect(life.arrive(0, at: origin, in: &admission) == .ready)
        life.begin()
        life.linger(at: origin, in: &admission)
        life.beginAgain(.overNewConnection)
        #expect(life.isLingering && life.again == nil)
    }
}
