import TestSupport
import Testing

@testable import CurlTransport

@Suite("Who may run")
struct AdmissionTests {
    private let first = Origin(isSecure: false, host: "a", port: 80)
    private let second = Origin(isSecure: false, host: "b", port: 80)

    @Test func upToTheOriginsLimitRunAndTheOthersFollowInOrder() {
        var admission = Admission(perOrigin: 2, inAll: 10, maximumWaiting: 10)
        #expect(admission.arrive(0, at: first) == .run)
        #expect(admission.arrive(1, at: first) == .run)
        #expect(admission.arrive(2, at: first) == .wait)
        #expect(admission.arrive(3, at: first) == .wait)
        #expect(admission.arrive(4, at: second) == .run)
        #expect(admission.leave(first) == [2])
        #expect(admission.leave(first) == [3])
        #expect(admission.leave(first).isEmpty)
        #expect(admission.waiting == 0)
    }

    @Test func theCommonLimitHoldsAcrossOrigins() {
        var admission = Admission(perOrigin: 5, inAll: 2, maximumWaiting: 10)
        #expect(admission.arrive(0, at: first) == .run)
        #expect(admission.arrive(1, at: second) == .run)
        #expect(admission.arrive(2, at: second) == .wait)
        #expect(admission.arrive(3, at: first) == .wait)
        #expect(admission.leave(first) == [2])
        #expect(admission.leave(second) == [3])
    }

    @Test func aFullQueueRefuses() {
        var admission = Admission(perOrigin: 1, inAll: 1, maximumWaiting: 1)
        #expect(admission.arrive(0, at: first) == .run)
        #expect(admission.arrive(1, at: first) == .wait)
        #expect(admission.arrive(2, at: first) == .refused)
        #expect(admission.leave(first) == [1])
        #expect(admission.arrive(3, at: first) == .wait)
    }

    @Test func whoWithdrawsIsNotStarted() {
        var admission = Admission(perOrigin: 1, inAll: 10, maximumWaiting: 10)
        #expect(admission.arrive(0, at: first) == .run)
        #expect(admission.arrive(1, at: first) == .wait)
        #expect(admission.arrive(2, at: first) == .wait)
        #expect(admission.withdraw(1, from: first).isEmpty)
        #expect(admission.leave(first) == [2])
    }

    @Test func whoWithdrawsBehindTheOriginsGateLetsTheNextOnePass() {
        var admission = Admission(perOrigin: 1, inAll: 1, maximumWaiting: 10)
        #expect(admission.arrive(0, at: first) == .run)
        #expect(admission.arrive(1, at: second) == .wait)
        #expect(admission.arrive(2, at: second) == .wait)
        #expect(admission.withdraw(1, from: second).isEmpty)
        #expect(admission.leave(first) == [2])
    }

    @Test func anOriginIsEnteredByAFew_UntilItsNameIsResolved() {
        var admission = Admission(perOrigin: 100, inAll: 100, maximumWaiting: 1000)
        let arrivals = (0..<50).map { admission.arrive($0, at: first) }
        #expect(arrivals.filter { $0 == .run }.count == Admission.coldLimit)
        #expect(admission.warm(first) == Array(Admission.coldLimit..<50))
        #expect(admission.warm(first).isEmpty)
        for _ in 0..<50 { #expect(admission.leave(first).isEmpty) }
        // It stays warm while it is idle.
        for slot in 0..<50 { #expect(admission.arrive(slot, at: first) == .run) }
    }

    @Test func aColdOriginThatFailsLetsTheNextOnesTry() {
        var admission = Admission(perOrigin: 100, inAll: 100, maximumWaiting: 1000)
        for slot in 0..<20 { _ = admission.arrive(slot, at: first) }
        #expect(admission.leave(first) == [8])
        #expect(admission.leave(first) == [9])
    }

    @Test func idleOriginsAreForgottenBeyondANumber() {
        var admission = Admission(perOrigin: 1, inAll: 1, maximumWaiting: 1)
        for number in 0..<5_000 {
            let origin = Origin(isSecure: true, host: "host\(number)", port: 443)
            #expect(admission.arrive(0, at: origin) == .run)
            _ = admission.warm(origin)
            _ = admission.leave(origin)
        }
        #expect(admission.originCount <= 1_025)
    }

    @Test func nothingIsLostOrStartedTwiceUnderRandomUse() {
        var random = SeededGenerator(seed: 11)
        var admission = Admission(perOrigin: 3, inAll: 7, maximumWaiting: 50)
        let origins = (0..<4).map { Origin(isSecure: false, host: "h\($0)", port: 80) }
        var origin: [Int: Origin] = [:]
        var running: Set<Int> = []
        var waiting: Set<Int> = []
        func start(_ slots: [Int]) {
            for slot in slots {
                #expect(waiting.remove(slot) != nil)
                #expect(running.insert(slot).inserted)
            }
        }
        for slot in 0..<20_000 {
            switch Int.random(in: 0..<3, using: &random) {
            case 0:
                let at = origins[Int.random(in: 0..<origins.count, using: &random)]
                switch admission.arrive(slot, at: at) {
                case .run: running.insert(slot)
                case .wait: waiting.insert(slot)
                case .refused: continue
                }
                origin[slot] = at
            case 1:
                guard let one = running.min(), let at = origin[one] else { continue }
                running.remove(one)
                start(admission.leave(at))
            default:
                guard let one = waiting.randomElement(using: &random), let at = origin[one] else { continue }
                waiting.remove(one)
                start(admission.withdraw(one, from: at))
            }
            #expect(running.count <= 7)
            #expect(admission.waiting == waiting.count)
            for at in origins { #expect(running.filter { origin[$0] == at }.count <= 3) }
        }
        while let one = running.min(), let at = origin[one] {
            running.remove(one)
            start(admission.leave(at))
        }
        #expect(waiting.isEmpty)
    }
}
