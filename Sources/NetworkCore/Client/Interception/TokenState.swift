/// A token and its number; the next one has a higher one.
struct IssuedToken: Sendable, Equatable {
    var token: TransportOptions.Secret
    var number: Int
}

/// The token of a ``BearerAuthentication`` and who waits for the next one. Pure: an event returns what to do.
struct TokenState<Waiter>: Sendable where Waiter: Sendable {
    enum Need {
        /// There is a token that will do.
        case use(IssuedToken)
        /// Wait: a refresh is on its way.
        case wait(key: Int)
        /// Wait, and refresh this token. The refresh has a number.
        case refresh(TransportOptions.Secret?, key: Int, number: Int)
    }

    private(set) var current: IssuedToken?
    private var waiters: [Int: Waiter]?
    private var lastKey = 0
    private var lastRefresh = 0

    init(_ token: TransportOptions.Secret?) { current = token.map { IssuedToken(token: $0, number: 0) } }

    /// Somebody needs a token, newer than the one that was refused.
    mutating func need(newerThan refused: Int?, _ waiter: Waiter) -> Need {
        if let current, current.number > refused ?? -1 { return .use(current) }
        lastKey += 1
        let isRunning = waiters != nil
        waiters = waiters ?? [:]
        waiters?[lastKey] = waiter
        if isRunning { return .wait(key: lastKey) }
        lastRefresh += 1
        return .refresh(current?.token, key: lastKey, number: lastRefresh)
    }

    /// Somebody waits no longer. The refresh goes on for the others.
    mutating func leave(_ key: Int) { waiters?[key] = nil }

    /// A refresh is over. What one brings that was given up before counts no more.
    /// - Returns: What to tell, and to whom.
    mutating func finish(
        _ number: Int,
        _ result: Result<TransportOptions.Secret, any Error>
    ) -> (Result<IssuedToken, any Error>, [Waiter]) {
        let outcome = result.map { IssuedToken(token: $0, number: (current?.number ?? 0) + 1) }
        guard number == lastRefresh, let waiters else { return (outcome, []) }
        let told = Array(waiters.values)
        self.waiters = nil
        if case .success(let issued) = outcome { current = issued }
        return (outcome, told)
    }
}
