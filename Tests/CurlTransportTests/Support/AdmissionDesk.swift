@testable import CurlTransport

extension Origin {
    static func name(_ host: String) -> Origin { Origin(isSecure: false, host: host, port: 80) }

    static func address(_ host: String) -> Origin {
        Origin(isSecure: false, host: host, port: 80, isAddress: true)
    }
}

/// An admission, and the set of its slots that are looking up a name.
struct Desk {
    enum Arrival { case run, wait, refused }

    var admission: Admission
    private(set) var lookingUp: [Int: Origin] = [:]
    private var origins: [Int: Origin] = [:]

    init(perOrigin: Int, inAll: Int, maximumQueued: Int = 10_000) {
        admission = Admission(perOrigin: perOrigin, inAll: inAll, maximumQueued: maximumQueued)
    }

    @discardableResult
    mutating func arrive(_ slot: Int, at origin: Origin) -> Arrival {
        origins[slot] = origin
        switch admission.arrive(slot, at: origin) {
        case .run(let turn):
            _ = note([turn])
            return .run
        case .wait: return .wait
        case .refused: return .refused
        }
    }

    @discardableResult
    mutating func arrive(_ slots: some Sequence<Int>, at origin: Origin) -> [Arrival] {
        slots.map { arrive($0, at: origin) }
    }

    mutating func leave(_ slot: Int) -> [Int] {
        let wasLookingUp = lookingUp.removeValue(forKey: slot) != nil
        return note(admission.leave(origins[slot]!, isLookingUp: wasLookingUp))
    }

    mutating func withdraw(_ slot: Int) -> [Int] { note(admission.withdraw(slot, from: origins[slot]!)) }

    mutating func resolve(_ slot: Int) -> [Int] {
        lookingUp[slot] = nil
        return note(admission.resolved(origins[slot]!))
    }

    /// Gives up the lookup of a running slot.
    mutating func giveUp(_ slot: Int) {
        let isLookingUp = admission.chill(origins[slot]!, isLookingUp: lookingUp[slot] != nil)
        lookingUp[slot] = isLookingUp ? origins[slot] : nil
    }

    private mutating func note(_ turns: [Admission.Turn]) -> [Int] {
        for turn in turns where turn.isLookingUp { lookingUp[turn.slot] = origins[turn.slot]! }
        return turns.map(\.slot)
    }
}
