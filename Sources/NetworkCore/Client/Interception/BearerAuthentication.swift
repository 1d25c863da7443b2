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
/// It belongs in ``NetworkClient/exchangeInterceptors``, where it sees the origin of each redirect. However many
/// requests get a 401, one refresh runs and all of them wait for it; a request that finds a newer token than the
/// refused one uses that. If the refresh fails, each waiting request fails with its error, and the next one starts a
/// new refresh. A request that is cancelled or times out stops waiting. A 401 for the new token is returned as it is,
/// and so is one for a request whose body can't be sent again; the next request then starts the refresh.
///
/// A request with its own `Authorization` field, with ``TransportOptions/authentication``, or with user and password in
/// its own URL passes unchanged. (Those of the client's base URL give way to the token.) So do the requests that the
/// refresh sends in its task and in tasks that inherit its task-local values. A detached task and a callback of another
/// library don't: send their requests with a client that has no ``BearerAuthentication``, or they wait for the refresh
/// that waits for them, until it times out.
public final class BearerAuthentication: Interceptor {
    private let origins: [RequestURL]
    private let refresh: (@Sendable (TransportOptions.Secret?) async throws -> TransportOptions.Secret)?
    private let timeout: Duration
    private let time: TimeSource
    private let state: Guarded<State>

    /// A token and its number; each newer token has a higher number.
    private struct IssuedToken: Sendable {
        var token: TransportOptions.Secret
        var number: Int
    }

    private struct State: Sendable {
        var current: IssuedToken?
        var refused = -1
        /// The refresh that all requests without a token wait for.
        var refresh: Task<IssuedToken, any Error>?
    }

    /// The instances whose refresh the current task runs in.
    @TaskLocal private static var refreshing: [ObjectIdentifier] = []

    /// Creates an interceptor with a token that can be renewed.
    /// - Parameters:
    ///   - origins: URLs whose scheme, host and port may receive the token.
    ///   - token: The first token. Without one, the first request starts a refresh.
    ///   - timeout: The timeout of a refresh. Default: 60 s. Afterwards the refresh is cancelled, and the requests that
    ///     wait for it fail with ``NetworkError/Code/totalTimeout``.
    ///   - time: The source of time for the timeout.
    ///   - refresh: Returns the next token, given the refused one, or `nil` if there was none. It has no task-local
    ///     values of the requests that wait for it. It must end when its task is cancelled: one that does not stays
    ///     behind at each timeout.
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
        state = Guarded(State(current: token.map { IssuedToken(token: $0, number: 0) }))
    }

    /// Sends the request with the token, and after a 401 once more with a newer token.
    public func intercept(_ request: TransportRequest, in call: Call, next: Next)
        async throws -> TransportResponse
    {
        guard isFor(request) else { return try await next(request) }
        let first = try await call.withinDeadline { try await self.token(newerThan: nil) }
        let (sent, exchanges) = (try request.carrying(first.token), call.exchanges)
        let response = try await next(sent)
        // After a redirect the 401 may be for a request without the token, or be a step's own, without any exchange.
        guard response.head.status == .unauthorized, refresh != nil,
            call.exchanges == exchanges
                || call.met.last?.headerFields[.authorization] == sent.headerFields[.authorization]
        else { return response }
        guard request.body?.isReplayable ?? true else {
            state.withLock { $0.refused = max($0.refused, first.number) }
            return response
        }
        call.count(repeats: response.metrics.repeats)
        await response.drain()
        let second = try await call.withinDeadline { try await self.token(newerThan: first.number) }
        return try await next(try request.carrying(second.token))
    }

    /// Whether a URL's origin may receive the token.
    func isMeant(for url: RequestURL) -> Bool { origins.contains { $0.hasSameOrigin(as: url) } }

    private func isFor(_ request: TransportRequest) -> Bool {
        isMeant(for: request.url) && !request.headerFields.contains(.authorization)
            && request.options.authentication == nil && !request.hasOwnCredentialsInURL
            && !Self.refreshing.contains(ObjectIdentifier(self))
    }

    /// Returns a token newer than the refused one. A cancelled task stops waiting; the refresh continues for others.
    private func token(newerThan refused: Int?) async throws -> IssuedToken {
        typealias Source = (current: IssuedToken?, refresh: Task<IssuedToken, any Error>?)
        let (current, refresh) = state.withLock { state -> Source in
            state.refused = max(state.refused, refused ?? -1)
            if let current = state.current, current.number > state.refused { return (current, nil) }
            if let refresh = state.refresh { return (nil, refresh) }
            state.refresh = startRefresh(of: state.current)
            return (nil, state.refresh)
        }
        if let current { return current }
        let outcome = FirstOutcome<IssuedToken>()
        Task { if let refresh { outcome.finish(await refresh.result) } }
        return try await outcome.value(orWhenCancelled: NetworkError.cancelled)
    }

    /// Starts a refresh in a task of its own, without the task-local values of the request that comes first: it belongs
    /// to all waiting requests, and to none of them.
    private func startRefresh(of refused: IssuedToken?) -> Task<IssuedToken, any Error> {
        let within = Self.refreshing + [ObjectIdentifier(self)]
        return Task.detached(priority: Task.currentPriority) { [self] in
            let result: Result<IssuedToken, any Error>
            do {
                let issued = try await FirstOutcome<IssuedToken>.racing(orWhenCancelled: NetworkError.cancelled) {
                    [self] in
                    let token = try await Self.$refreshing.withValue(within) { try await refresh?(refused?.token) }
                    // A token that can't be sent would never be refused, and so never renewed.
                    try OptionCheck.token(token?.value ?? "", "the token of the refresh")
                    return IssuedToken(token: token ?? "", number: (refused?.number ?? 0) + 1)
                } against: { [self] in
                    try await time.sleep(timeout)
                    let words = "the token was not renewed within \(timeout); the refresh may wait for a request that "
                    throw NetworkError(.totalTimeout, words + "waits for it", phase: .waiting)
                }
                result = .success(issued)
            } catch {
                result = .failure(error)
            }
            return try state.withLock { state in
                state.refresh = nil
                if case .success(let issued) = result { state.current = issued }
                return result
            }.get()
        }
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
