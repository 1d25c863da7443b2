import HTTPTypes
import Synchronization

/// An interceptor that sends a bearer token ([RFC 6750](https://www.rfc-editor.org/rfc/rfc6750)) to the origins it is
/// for, and renews the token once when a server responds with 401.
///
/// ```swift
/// let bearer = try BearerAuthentication(for: ["https://api.example.com"]) { _ in try await logIn() }
/// client.exchangeInterceptors.append(bearer)
/// ```
///
/// It belongs in ``NetworkClient/exchangeInterceptors``, where it sees the origin of each redirect. Among
/// ``NetworkClient/interceptors`` it sees the end of a call alone: a 401 for a request that did not carry the token, as
/// after a redirect to another origin, is returned as it is. However many requests get a 401, one refresh runs, and all
/// of them wait for it. A request that finds a newer token than the refused one uses the newer token. If the refresh
/// fails, each waiting request fails with its error, and the next request starts a new refresh. A request that is
/// cancelled or times out stops waiting; the refresh continues for the others. A 401 for the new token is returned as
/// it is, and the token stays in use: a server may refuse one request for all tokens. So is a 401 for a request whose
/// body can't be sent again; the next request then starts the refresh.
///
/// A request with its own `Authorization` field, with ``TransportOptions/authentication``, or with user and password in
/// its own URL passes unchanged. (Those of the client's base URL give way to the token.) So do the requests that the
/// refresh itself sends, in its task and in tasks that inherit its task-local values. A detached task and a callback of
/// another library don't inherit them: a request from there waits for the refresh that waits for it, until the refresh
/// times out and all of them fail. Send such a request with a client that has no ``BearerAuthentication``.
public final class BearerAuthentication: Interceptor {
    private let origins: [RequestURL]
    private let refresh: (@Sendable (TransportOptions.Secret?) async throws -> TransportOptions.Secret)?
    private let timeout: Duration
    private let time: TimeSource
    private let state: Guarded<TokenState<FirstOutcome<IssuedToken>>>
    /// The refreshes that have not returned, those after their timeout included.
    private let running = Guarded(0)
    /// The limit on them: a refresh that ignores its cancellation may never return.
    static let maximumRunning = 4

    /// The instances whose refresh the current task runs in.
    @TaskLocal private static var refreshing: [ObjectIdentifier] = []

    /// Creates an interceptor with a token that can be renewed.
    /// - Parameters:
    ///   - origins: URLs whose scheme, host and port may receive the token.
    ///   - token: The first token. Without one, the first request starts a refresh.
    ///   - timeout: The timeout of a refresh. Default: 60 s. Afterwards the refresh is cancelled, and the requests that
    ///     wait for it fail with ``NetworkError/Code/totalTimeout``. While four refreshes have not returned, because
    ///     they ignore their cancellation, each request that needs another token fails with it at once.
    ///   - time: The source of time for the timeout.
    ///   - refresh: Returns the next token, given the refused one, or `nil` if there was none. It has no task-local
    ///     values of the requests that wait for it.
    /// - Throws: ``NetworkError/Code/invalidURL``, or ``NetworkError/Code/invalidOption`` for a timeout out of range
    ///   and for no origin at all.
    public convenience init(
        for origins: [String],
        token: TransportOptions.Secret? = nil,
        timeout: Duration = .seconds(60),
        time: TimeSource = .system,
        refresh: @escaping @Sendable (_ refused: TransportOptions.Secret?) async throws -> TransportOptions.Secret
    ) throws {
        try OptionCheck.duration(timeout, "timeout")
        self.init(try Self.parsed(origins), token, timeout, time, refresh)
    }

    /// Creates an interceptor with a token that can't be renewed: a 401 is returned as it is.
    /// - Throws: ``NetworkError/Code/invalidURL``, or ``NetworkError/Code/invalidOption`` for no origin at all.
    public convenience init(for origins: [String], token: TransportOptions.Secret) throws {
        self.init(try Self.parsed(origins), token, .seconds(60), .system, nil)
    }

    private static func parsed(_ origins: [String]) throws -> [RequestURL] {
        // Without one, the token would be sent nowhere, and each request would fail with a 401.
        guard !origins.isEmpty else { throw OptionCheck.invalid("origins", "is empty; name those that get the token") }
        return try origins.map { try RequestURL($0) }
    }

    private init(
        _ origins: [RequestURL],
        _ token: TransportOptions.Secret?,
        _ timeout: Duration,
        _ time: TimeSource,
        _ refresh: (@Sendable (TransportOptions.Secret?) async throws -> TransportOptions.Secret)?
    ) {
        self.origins = origins
        self.refresh = refresh
        self.timeout = timeout
        self.time = time
        state = Guarded(TokenState(token))
    }

    /// Sends the request with the token, and after a 401 once more with a newer token.
    public func intercept(_ request: TransportRequest, in call: Call, next: Next)
        async throws -> TransportResponse
    {
        guard isFor(request) else { return try await next(withoutToken(request)) }
        let first = try await call.withinDeadline { try await self.token(newerThan: nil) }
        let (sent, exchanges) = (try request.carrying(first.token), call.exchanges)
        let response = try await next(sent)
        // After a redirect the 401 may be for a request without the token, or be a step's own, without any exchange.
        guard response.head.status == .unauthorized, refresh != nil,
            call.exchanges == exchanges
                || call.met.last?.headerFields[.authorization] == sent.headerFields[.authorization]
        else { return response }
        guard request.body?.isReplayable ?? true else {
            state.withLock { $0.refuse(first.number) }
            return response
        }
        call.count(repeats: response.metrics.repeats)
        await response.drain()
        let second = try await call.withinDeadline { try await self.token(newerThan: first.number) }
        return try await next(try request.carrying(second.token))
    }

    /// Returns a request that gets no token. If its origin is the reason, a 401 says so.
    private func withoutToken(_ request: TransportRequest) -> TransportRequest {
        guard !origins.contains(where: { $0.hasSameOrigin(as: request.url) }), !request.hasOwnCredentialsInURL,
            !request.headerFields.contains(.authorization), request.options.authentication == nil
        else { return request }
        var request = request
        request.lacksCredentials = true
        return request
    }

    private func isFor(_ request: TransportRequest) -> Bool {
        origins.contains { $0.hasSameOrigin(as: request.url) } && !request.headerFields.contains(.authorization)
            && request.options.authentication == nil && !request.hasOwnCredentialsInURL
            && !Self.refreshing.contains(ObjectIdentifier(self))
    }

    private func token(newerThan refused: Int?) async throws -> IssuedToken {
        let outcome = FirstOutcome<IssuedToken>()
        let key: Int
        switch state.withLock({ $0.need(newerThan: refused, outcome) }) {
        case .use(let issued): return issued
        case .wait(let waiting): key = waiting
        case .refresh(let token, let waiting, let number):
            key = waiting
            startRefresh(number, of: token)
        }
        return try await outcome.value(orWhenCancelled: NetworkError.cancelled) { state.withLock { $0.leave(key) } }
    }

    /// Starts a refresh in a task of its own, without the task-local values of the request that comes first: it belongs
    /// to all waiting requests, and to none of them.
    private func startRefresh(_ number: Int, of refused: TransportOptions.Secret?) {
        guard let refresh else { return }
        let mayRun = running.withLock { running in
            guard running < Self.maximumRunning else { return false }
            running += 1
            return true
        }
        guard mayRun else {
            let words = "\(Self.maximumRunning) refreshes of the token have not returned since their timeout"
            let error = NetworkError(.totalTimeout, "\(words); the closure ignores cancellation", phase: .waiting)
            return finish(number, .failure(error))
        }
        let within = Self.refreshing + [ObjectIdentifier(self)]
        Task.detached(priority: Task.currentPriority) { [self] in
            await withTaskGroup(of: Void.self) { group in
                group.addTask { [self] in
                    let result: Result<TransportOptions.Secret, any Error>
                    do {
                        let token = try await Self.$refreshing.withValue(within) {
                            try await refresh(refused)
                        }
                        // A token that can't be sent would never be refused, and so never renewed.
                        try OptionCheck.token(token.value, "the token of the refresh")
                        result = .success(token)
                    } catch {
                        result = .failure(error)
                    }
                    // First, since a waiting request may start the next refresh.
                    running.withLock { $0 -= 1 }
                    finish(number, result)
                }
                group.addTask { [self] in
                    // Cancelled when the refresh ends first.
                    guard (try? await time.sleep(timeout)) != nil else { return }
                    let words =
                        "the token was not renewed within \(timeout); the refresh may wait for a request that "
                        + "waits for it"
                    finish(number, .failure(NetworkError(.totalTimeout, words, phase: .waiting)))
                }
                await group.next()
                group.cancelAll()
            }
        }
    }

    private func finish(_ number: Int, _ result: Result<TransportOptions.Secret, any Error>) {
        let (outcome, waiters) = state.withLock { $0.finish(number, result) }
        for waiter in waiters { waiter.finish(outcome) }
    }
}

extension TransportRequest {
    fileprivate func carrying(_ token: TransportOptions.Secret) throws -> TransportRequest {
        try OptionCheck.token(token.value, "token")
        var request = self
        if !headerFields.contains(.authorization) { try checkFieldCount(adding: 1) }
        request.headerFields[.authorization] = "Bearer \(token.value)"
        return request
    }
}

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
