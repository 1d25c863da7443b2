/// Limits the running transfers: per origin, in all, and those that look up names. The others wait in order. Pure.
struct Admission {
    private struct OriginState {
        /// The number of slots past the origin's gate: running, or waiting for the common limits.
        var passed = 0
        /// The number of those that run.
        var running = 0
        /// The slot among ``Admission/firsts``, and those among ``Admission/ready``.
        var first: Int?
        var inReady: [Int] = []
        /// The number of those that may look up the origin's name: now, or once the limit of lookups lets them.
        var lookUps = 0
        var waiting = SlotQueue(.origin)
        /// The number of slots past the gate whose callers have their results, and which only their lookups keep.
        var lingering = 0
        /// The slots among the lookups that wait.
        var waitingToLookUp: [Int] = []
        /// Whether the origin's name is taken to be in libcurl's cache: a transfer to it has finished the lookup, and
        /// none has begun another one since; or the host is an address.
        var isWarm = false
    }

    /// The maximum number of concurrent lookups of one origin's name while it is not known to be resolved: libcurl
    /// looks up the name for each transfer, in its own thread, until one of them has put it into the cache.
    static let coldLimit = 8
    /// The same limit once half of all lookups are taken, so that a few names that hang can't take the other half.
    static let crowdedColdLimit = 1
    /// The maximum number of concurrent lookups for all such origins together.
    static let maximumLookUps = 64
    /// The number of idle origins to remember as warm.
    private static let rememberedOrigins = 1_024

    private let perOrigin: Int
    private let inAll: Int
    private let maximumQueued: Int
    private var origins: [Origin: OriginState] = [:]
    /// The origin that was used last, taken out of the table, because it is usually the next one too.
    private var recent: (origin: Origin, state: OriginState)?
    private var links = SlotLinks()
    /// The slots past their origin's gate that wait for the limit in all.
    private var ready = SlotQueue(.ready)
    /// Those of them whose origins hold no place: a part of the places is theirs alone, so that a few slow servers
    /// can't take all.
    private var firsts = SlotQueue(.first)
    /// The number of places for origins that hold none.
    private let reserved: Int
    /// The slots of cold origins that also wait for the limit of lookups.
    private var readyToLookUp = SlotQueue(.lookUp)
    /// The origins of the slots that wait past their gates.
    private var originsOfWaiting: [Int: Origin] = [:]
    private(set) var running = 0
    private(set) var waiting = 0
    private(set) var lookingUp = 0
    /// The number of running slots whose callers have their results.
    private var lingering = 0

    /// The number of remembered origins, for tests.
    var originCount: Int { origins.count + (recent == nil ? 0 : 1) }

    /// Calls `body` with each origin that has requests, and with the numbers of those that run and that wait.
    func forEachOrigin(_ body: (Origin, _ running: Int, _ waiting: Int) -> Void) {
        for (origin, state) in origins {
            body(origin, state.running, state.passed - state.running + state.waiting.count)
        }
        guard let (origin, state) = recent else { return }
        body(origin, state.running, state.passed - state.running + state.waiting.count)
    }

    init(perOrigin: Int, inAll: Int, maximumQueued: Int) {
        self.perOrigin = perOrigin
        self.inAll = inAll
        self.maximumQueued = maximumQueued
        reserved = inAll / 8
    }

    /// A slot that may start.
    struct Turn: Equatable {
        let slot: Int
        /// Whether its name may need a lookup: it counts as one until ``resolved(_:)`` or ``leave(_:isLookingUp:)``.
        let isLookingUp: Bool
    }

    enum Arrival: Equatable { case run(Turn), wait, refused }

    mutating func arrive(_ slot: Int, at origin: Origin) -> Arrival {
        let wasKnown = find(origin)
        var state = takeRecent() ?? OriginState(isWarm: origin.isAddress)
        defer { if wasKnown || state.passed > 0 || !state.waiting.isEmpty { recent = (origin, state) } }
        let passes = mayPass(state) && state.waiting.isEmpty
        let isFirst = state.running == 0 && state.first == nil
        let mayBegin =
            state.isWarm
            ? (isFirst ? firsts : ready).isEmpty && (isFirst || running < inAll - reserved)
            : readyToLookUp.isEmpty && lookingUp < Self.maximumLookUps
        if passes, running < inAll, mayBegin {
            state.passed += 1
            state.running += 1
            if !state.isWarm { state.lookUps += 1 }
            return .run(begin(slot, isCold: !state.isWarm))
        }
        // A slot that only lookups hold up is not one too many.
        let hasPlace = running + waiting < inAll && state.passed + state.waiting.count < perOrigin
        guard waiting < maximumQueued || hasPlace else { return .refused }
        waiting += 1
        if passes { pass(slot, of: origin, &state) } else { state.waiting.append(slot, &links) }
        return .wait
    }

    private mutating func begin(_ slot: Int, isCold: Bool) -> Turn {
        running += 1
        if isCold { lookingUp += 1 }
        return Turn(slot: slot, isLookingUp: isCold)
    }

    /// Lets a slot past its origin's gate.
    private mutating func pass(_ slot: Int, of origin: Origin, _ state: inout OriginState) {
        state.passed += 1
        originsOfWaiting[slot] = origin
        guard !state.isWarm else { return lineUp(slot, &state) }
        state.lookUps += 1
        readyToLookUp.append(slot, &links)
        state.waitingToLookUp.append(slot)
    }

    /// Lets a slot wait for the limit in all.
    private mutating func lineUp(_ slot: Int, _ state: inout OriginState) {
        if state.running == 0, state.first == nil {
            state.first = slot
            firsts.append(slot, &links)
        } else {
            state.inReady.append(slot)
            ready.append(slot, &links)
        }
    }

    /// Lets the next slot of an origin that holds no place any more wait for one of its own.
    private mutating func promote(_ state: inout OriginState) {
        guard state.running == 0, state.first == nil, let slot = state.inReady.first else { return }
        state.inReady.removeFirst()
        ready.remove(slot, &links)
        lineUp(slot, &state)
    }

    /// Cleans up after a slot that waits past its gate no longer.
    /// - Parameter runs: Whether it begins to run.
    private mutating func forgetWait(of slot: Int, runs: Bool) {
        guard let origin = originsOfWaiting.removeValue(forKey: slot), find(origin), var state = takeRecent() else {
            return
        }
        if state.first == slot { state.first = nil }
        state.inReady.removeAll { $0 == slot }
        state.waitingToLookUp.removeAll { $0 == slot }
        if runs { state.running += 1 }
        promote(&state)
        recent = (origin, state)
    }

    /// Records that a lookup of the origin's name has ended.
    private mutating func lookUpEnded(of origin: Origin) {
        if find(origin) { recent?.state.lookUps -= 1 }
    }

    /// Makes the origin the recent one and returns `true`, if it is known.
    private mutating func find(_ origin: Origin) -> Bool {
        if let recent, recent.origin == origin { return true }
        if let other = recent.take() { origins[other.origin] = other.state }
        guard let state = origins.removeValue(forKey: origin) else { return false }
        recent = (origin, state)
        return true
    }

    /// Takes the recent origin's state out to change it in place: with a single owner, its queue is not copied.
    private mutating func takeRecent() -> OriginState? { recent.take()?.state }

    /// Returns whether a slot that waits does so for a lookup, of its origin's name or of others, and not for a place
    /// among those that run. A place that a lookup holds whose caller is gone counts as the lookup.
    mutating func waitsForLookUp(_ slot: Int, of origin: Origin) -> Bool {
        guard find(origin), let state = recent?.state else { return false }
        let isHeldUp = running >= inAll && running - lingering < inAll
        return switch links.place(of: slot) {
        case .nowhere: false
        case .ready, .first: isHeldUp
        case .lookUp: isHeldUp || lookingUp >= Self.maximumLookUps
        case .origin: state.passed - state.lingering < perOrigin && (!state.isWarm || state.passed >= perOrigin)
        }
    }

    /// Records that a slot has finished the lookup of the origin's name: it has a connection, or begins to open one.
    /// - Returns: The slots to start now.
    mutating func resolved(_ origin: Origin) -> [Turn] {
        lookingUp -= 1
        lookUpEnded(of: origin)
        if find(origin), recent?.state.isWarm == false, var state = takeRecent() {
            state.isWarm = true
            state.lookUps -= state.waitingToLookUp.count
            for slot in state.waitingToLookUp {
                readyToLookUp.remove(slot, &links)
                lineUp(slot, &state)
            }
            state.waitingToLookUp = []
            passWaiting(for: origin, &state)
            recent = (origin, state)
        }
        return takeReady()
    }

    /// Asks for a lookup of the name of an origin that counted as resolved: libcurl's cache has forgotten it. From then
    /// on the origin is cold.
    /// - Returns: Whether the lookup may begin; it then counts as one. If not, the slot must leave and arrive again.
    mutating func beginLookUp(of origin: Origin) -> Bool {
        guard find(origin) else { return false }
        recent?.state.isWarm = false
        guard let state = recent?.state, state.lookUps < Self.coldLimit, lookingUp < Self.maximumLookUps else {
            return false
        }
        recent?.state.lookUps += 1
        lookingUp += 1
        return true
    }

    /// Records that a lookup of the origin's name was given up but still runs: later transfers must look the name up
    /// again.
    /// - Parameter isLookingUp: Whether it counts as a lookup already; a warm origin's does not.
    /// - Returns: Whether it counts as a lookup from now on.
    mutating func chill(_ origin: Origin, isLookingUp: Bool) -> Bool {
        lingering += 1
        if find(origin) { recent?.state.lingering += 1 }
        guard !origin.isAddress, find(origin) else { return isLookingUp }
        recent?.state.isWarm = false
        guard !isLookingUp else { return true }
        recent?.state.lookUps += 1
        lookingUp += 1
        return true
    }

    /// Returns whether one more slot may pass the origin's gate.
    private func mayPass(_ state: OriginState) -> Bool {
        guard state.passed < perOrigin else { return false }
        let isCrowded = lookingUp + readyToLookUp.count >= Self.maximumLookUps / 2
        return state.isWarm || state.lookUps < (isCrowded ? Self.crowdedColdLimit : Self.coldLimit)
    }

    private mutating func passWaiting(for origin: Origin, _ state: inout OriginState) {
        while mayPass(state), let next = state.waiting.popFirst(&links) { pass(next, of: origin, &state) }
    }

    /// Records that a running slot has ended.
    /// - Parameters:
    ///   - isLookingUp: Whether it still counts as a lookup.
    ///   - isLingering: Whether its lookup was given up: ``chill(_:isLookingUp:)`` was called for it.
    /// - Returns: The slots to start now.
    mutating func leave(_ origin: Origin, isLookingUp: Bool = false, isLingering: Bool = false) -> [Turn] {
        running -= 1
        if find(origin), var state = takeRecent() {
            state.running -= 1
            promote(&state)
            recent = (origin, state)
        }
        if isLingering {
            lingering -= 1
            if find(origin) { recent?.state.lingering -= 1 }
        }
        if isLookingUp {
            lookingUp -= 1
            lookUpEnded(of: origin)
        }
        releaseOrigin(origin)
        return takeReady()
    }

    /// Withdraws a waiting slot.
    /// - Returns: The slots to start now.
    mutating func withdraw(_ slot: Int, from origin: Origin) -> [Turn] {
        switch links.place(of: slot) {
        case .nowhere: return []
        case .origin: if find(origin) { recent?.state.waiting.remove(slot, &links) }
        case .ready:
            ready.remove(slot, &links)
            forgetWait(of: slot, runs: false)
            releaseOrigin(origin)
        case .first:
            firsts.remove(slot, &links)
            forgetWait(of: slot, runs: false)
            releaseOrigin(origin)
        case .lookUp:
            readyToLookUp.remove(slot, &links)
            forgetWait(of: slot, runs: false)
            lookUpEnded(of: origin)
            releaseOrigin(origin)
        }
        waiting -= 1
        return takeReady()
    }

    private mutating func releaseOrigin(_ origin: Origin) {
        guard find(origin), var state = takeRecent() else { return }
        state.passed -= 1
        passWaiting(for: origin, &state)
        let isForgotten = state.passed == 0 && (!state.isWarm || origins.count >= Self.rememberedOrigins)
        if !isForgotten { recent = (origin, state) }
    }

    private mutating func takeReady() -> [Turn] {
        var started: [Turn] = []
        while running < inAll {
            // The one that has waited the longest is next, or one kind could take every place that becomes free.
            let mayTakeAny = running < inAll - reserved
            let warm = mayTakeAny && ready.hasWaitedLonger(than: firsts, links) ? ready : firsts
            let isCold = lookingUp < Self.maximumLookUps && readyToLookUp.hasWaitedLonger(than: warm, links)
            let isFirst = mayTakeAny ? firsts.hasWaitedLonger(than: ready, links) : true
            guard
                let slot = isCold
                    ? readyToLookUp.popFirst(&links) : isFirst ? firsts.popFirst(&links) : ready.popFirst(&links)
            else { break }
            waiting -= 1
            forgetWait(of: slot, runs: true)
            started.append(begin(slot, isCold: isCold))
        }
        return started
    }
}
