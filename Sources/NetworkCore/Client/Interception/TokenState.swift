/// A token and its number; each newer token has a higher number.
struct IssuedToken: Sendable, Equatable {
    var token: TransportOptions.Secret
    var number: Int
}

/// The token of a ``BearerAuthentication`` and the requests that wait for the next one. Pure: an event returns an
/// action.
struct TokenState<Waiter>: Sendable where Waiter: Sendable {
    enum Need {
        /// Use this token.
        case use(IssuedToken)
        /// Wait: a refresh is running.
        case wait(key: Int)
        /// Wait, and start the refresh of this number for this token.
        case refresh(TransportOptions.Secret?, key: Int, number: Int)
    }

    private(set) var current: IssuedToken?
    /// The highest number of a token that a server has refused.
    private var refused = -1
    private var waiters: [Int: Waiter]?
    private var lastKey = 0
    private var lastRefresh = 0

    init(_ token: TransportOptions.Secret?) { current = token.map { IssuedToken(token: $0, number: 0) } }

    /// Handles a request that needs a token newer than the refused one.
    mutating func need(newerThan refused: Int?, _ waiter: Waiter) -> Need {
        if let refused { refuse(refused) }
        if let current, current.number > self.refused { return .use(current) }
        lastKey += 1
        let isRunning = waiters != nil
        waiters = waiters ?? [:]
        waiters?[lastKey] = waiter
        if isRunning { return .wait(key: lastKey) }
        lastRefresh += 1
        return .refresh(current?.token, key: lastKey, number: lastRefresh)
    }

    /// Records that a server has refused a token: the next request needs a newer one.
    mutating func refuse(_ number: Int) { refused = max(refused, number) }

    /// Removes a request that no longer waits. The refresh continues for the others.
    mutating func leave(_ key: Int) { waiters?[key] = nil }

    /// Ends a refresh. The result of a refresh that timed out before is ignored.
    /// - Returns: The outcome, and the requests that receive it.
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
