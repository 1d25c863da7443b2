/// Who may run: at most so many at once per origin and in all, the others in order of arrival.
///
/// Waiting happens here and not inside libcurl, where it would count into connect timeouts and where each waiting
/// transfer could start a resolver thread.
struct Admission {
    private struct OriginState {
        /// Running, or past the origin's gate and waiting at the common one.
        var passed = 0
        var waiting = SlotQueue()
        /// Whether its name was resolved before: a connection was opened.
        var isWarm = false
    }

    /// The most that may run at once to an origin whose name was never resolved: libcurl looks up each name for itself, in
    /// a thread of its own, until one of them has put it into the cache.
    static let coldLimit = 8
    /// How many idle origins are remembered as warm.
    private static let rememberedOrigins = 1_024

    private let perOrigin: Int
    private let inAll: Int
    private let maximumWaiting: Int
    private var origins: [Origin: OriginState] = [:]
    /// The origin that was looked at last, taken out of the table: mostly the next one too.
    private var recent: (origin: Origin, state: OriginState)?
    /// Past their origin's gate.
    private var ready = SlotQueue()
    private(set) var running = 0
    private(set) var waiting = 0

    /// How many origins are remembered, for tests.
    var originCount: Int { origins.count + (recent == nil ? 0 : 1) }

    init(perOrigin: Int, inAll: Int, maximumWaiting: Int) {
        self.perOrigin = perOrigin
        self.inAll = inAll
        self.maximumWaiting = maximumWaiting
    }

    enum Arrival { case run, wait, refused }

    mutating func arrive(_ slot: Int, at origin: Origin) -> Arrival {
        let wasKnown = find(origin)
        var state = takeRecent() ?? OriginState()
        let passes = state.passed < limit(of: state) && state.waiting.isEmpty
        if passes, running < inAll, ready.isEmpty {
            running += 1
            state.passed += 1
            recent = (origin, state)
            return .run
        }
        guard waiting < maximumWaiting else {
            if wasKnown { recent = (origin, state) }
            return .refused
        }
        waiting += 1
        if passes {
            state.passed += 1
            ready.append(slot)
        } else {
            state.waiting.append(slot)
        }
        recent = (origin, state)
        return .wait
    }

    /// Makes the origin the recent one, if it is known.
    private mutating func find(_ origin: Origin) -> Bool {
        if let recent, recent.origin == origin { return true }
        if let other = recent.take() { origins[other.origin] = other.state }
        guard let state = origins.removeValue(forKey: origin) else { return false }
        recent = (origin, state)
        return true
    }

    /// The recent origin's state, to be changed in place: nobody else holds its queue.
    private mutating func takeRecent() -> OriginState? { recent.take()?.state }

    /// A connection to the origin was opened, so its name is in the cache.
    /// - Returns: The slots to start now.
    mutating func warm(_ origin: Origin) -> [Int] {
        guard find(origin), recent?.state.isWarm == false, var state = takeRecent() else { return [] }
        state.isWarm = true
        while state.passed < perOrigin, let next = state.waiting.popFirst() {
            state.passed += 1
            ready.append(next)
        }
        recent = (origin, state)
        return takeReady()
    }

    private func limit(of state: OriginState) -> Int { state.isWarm ? perOrigin : min(perOrigin, Self.coldLimit) }

    /// A running slot has ended.
    /// - Returns: The slots to start now.
    mutating func leave(_ origin: Origin) -> [Int] {
        running -= 1
        releaseOrigin(origin)
        return takeReady()
    }

    /// A waiting slot gives up.
    /// - Returns: The slots to start now.
    mutating func withdraw(_ slot: Int, from origin: Origin) -> [Int] {
        if find(origin), recent?.state.waiting.remove(slot) == true {
            waiting -= 1
        } else if ready.remove(slot) {
            waiting -= 1
            releaseOrigin(origin)
        }
        return takeReady()
    }

    private mutating func releaseOrigin(_ origin: Origin) {
        guard find(origin), var state = takeRecent() else { return }
        state.passed -= 1
        if let next = state.waiting.popFirst() {
            state.passed += 1
            ready.append(next)
        }
        let isForgotten = state.passed == 0 && (!state.isWarm || origins.count >= Self.rememberedOrigins)
        if !isForgotten { recent = (origin, state) }
    }

    private mutating func takeReady() -> [Int] {
        var started: [Int] = []
        while running < inAll, let slot = ready.popFirst() {
            running += 1
            waiting -= 1
            started.append(slot)
        }
        return started
    }
}
