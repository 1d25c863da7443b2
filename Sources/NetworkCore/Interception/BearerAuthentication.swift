import HTTPTypes
import Synchronization

/// Sends a bearer token (RFC 6750) to the origins it is for, and renews it once when a server answers 401.
///
/// ```swift
/// let bearer = try BearerAuthentication(for: ["https://api.example.com"]) { _ in try await logIn() }
/// client.exchangeInterceptors.append(bearer)
/// ```
///
/// It belongs into ``NetworkClient/exchangeInterceptors``, where it sees each redirect's origin. However many requests
/// are answered with 401, one refresh runs, and all wait for it; whoever finds a newer token than the one that was
/// refused takes that. Its failure is the failure of each that waited, and the next request tries anew. Whoever is
/// cancelled or runs out of time stops waiting; the refresh goes on for the others. A 401 for the new token is handed
/// back, and so is one for a body that can't be sent again.
///
/// A request with an `Authorization` of its own, or with ``TransportOptions/authentication``, passes as it is. So do the
/// requests that the refresh itself sends.
public final class BearerAuthentication: Interceptor {
    private let origins: [RequestURL]
    private let refresh: (@Sendable (Secret?) async throws -> Secret)?
    private let state: Guarded<TokenState<FirstOutcome<IssuedToken>>>

    /// Those whose refresh the current task runs in.
    @TaskLocal private static var refreshing: [ObjectIdentifier] = []

    /// A token for some origins.
    /// - Parameters:
    ///   - origins: URLs whose scheme, host and port may see the token.
    ///   - token: The first token; without one, the first request asks for it.
    ///   - refresh: Gets the next token, given the one that was refused. It has to end by itself; give its requests a
    ///     timeout.
    /// - Throws: ``NetworkError/Code/invalidURL``.
    public convenience init(
        for origins: [String],
        token: Secret? = nil,
        refresh: @escaping @Sendable (_ refused: Secret?) async throws -> Secret
    ) throws {
        self.init(try origins.map { try RequestURL($0) }, token, refresh)
    }

    /// A token that can't be renewed: a 401 is handed back.
    /// - Throws: ``NetworkError/Code/invalidURL``.
    public convenience init(for origins: [String], token: Secret) throws {
        self.init(try origins.map { try RequestURL($0) }, token, nil)
    }

    private init(_ origins: [RequestURL], _ token: Secret?, _ refresh: (@Sendable (Secret?) async throws -> Secret)?) {
        self.origins = origins
        self.refresh = refresh
        state = Guarded(TokenState(token))
    }

    /// Sends the request with the token, and once more with a newer one.
    public func intercept(_ request: TransportRequest, in call: Call, next: Next) async throws -> TransportResponse {
        guard isFor(request) else { return try await next(request) }
        let first = try await call.withinDeadline { try await self.token(newerThan: nil) }
        let response = try await next(try request.carrying(first.token))
        guard response.head.status == .unauthorized, refresh != nil, request.body?.isReplayable ?? true else {
            return response
        }
        await response.drain()
        let second = try await call.withinDeadline { try await self.token(newerThan: first.number) }
        return try await next(try request.carrying(second.token))
    }

    private func isFor(_ request: TransportRequest) -> Bool {
        origins.contains { $0.hasSameOrigin(as: request.url) } && !request.headerFields.contains(.authorization)
            && request.options.authentication == nil && !Self.refreshing.contains(ObjectIdentifier(self))
    }

    private func token(newerThan refused: Int?) async throws -> IssuedToken {
        let outcome = FirstOutcome<IssuedToken>()
        let key: Int
        switch state.withLock({ $0.need(newerThan: refused, outcome) }) {
        case .use(let issued): return issued
        case .wait(let waiting): key = waiting
        case .refresh(let token, let waiting):
            key = waiting
            startRefresh(of: token)
        }
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { outcome.attach($0) }
        } onCancel: {
            state.withLock { $0.leave(key) }
            outcome.finish(.failure(NetworkError.cancelled))
        }
    }

    /// Runs in a task of its own: it belongs to all who wait, and to none of them.
    private func startRefresh(of refused: Secret?) {
        guard let refresh else { return }
        Task {
            do {
                let token = try await Self.$refreshing.withValue(Self.refreshing + [ObjectIdentifier(self)]) {
                    try await refresh(refused)
                }
                finish(.success(token))
            } catch {
                finish(.failure(error))
            }
        }
    }

    private func finish(_ result: Result<Secret, any Error>) {
        let (outcome, waiters) = state.withLock { $0.finish(result) }
        for waiter in waiters { waiter.finish(outcome) }
    }
}

extension TransportRequest {
    fileprivate func carrying(_ token: Secret) throws -> TransportRequest {
        try OptionCheck.token(token.value, "token")
        var request = self
        request.headerFields[.authorization] = "Bearer \(token.value)"
        return request
    }
}
