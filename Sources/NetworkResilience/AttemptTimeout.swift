public import NetworkCore

/// A step that limits the time of each attempt, to the head of its response, so that a retry has time left.
///
/// It belongs behind retries, whose policy must retry its error, ``NetworkCore/NetworkError/Code/attemptTimeout``. The
/// body has the rest of the call's time.
public struct AttemptTimeout: Interceptor {
    /// The longest time.
    public var time: Duration

    /// Creates a timeout. Default: 10 s, as in .NET.
    public init(_ time: Duration = .seconds(10)) { self.time = time }

    /// Passes the request on, and cancels it when the time is over.
    /// - Throws: ``NetworkCore/NetworkError/Code/attemptTimeout``.
    public func intercept(_ request: TransportRequest, in call: Call, next: Next) async throws -> TransportResponse {
        // The steps within see a cancellation, and report what it means.
        let end = ContinuousClock.now + min(time, TransportOptions.maximumTimeout)
        return try await call.withinDeadline(
            and: time,
            or: NetworkError(.attemptTimeout, "no response to this attempt within \(time) (AttemptTimeout)")
        ) { try await NetworkClient.Call.$attemptEnd.withValue(end) { try await next(request) } }
    }
}

/// A step that makes a response of its own when the others have none. A call whose total timeout is over has no time
/// for one.
///
/// ```swift
/// client.interceptors.insert(Fallback { request, error in request.method == .get ? lastKnown : nil }, at: 0)
/// ```
public struct Fallback: Interceptor {
    private let covers: @Sendable (Result<TransportResponse, any Error>) -> Bool
    private let make: @Sendable (TransportRequest, (any Error)?) async throws -> TransportResponse?

    /// Creates a fallback.
    /// - Parameters:
    ///   - covers: The outcomes that it replaces. Default: ``Resilience/isTrouble(_:)`` and the refusals of the
    ///     other steps.
    ///   - make: Returns the response in place of the outcome, or `nil` to leave that. It gets the error; `nil` for a
    ///     status.
    public init(
        covering covers: (@Sendable (Result<TransportResponse, any Error>) -> Bool)? = nil,
        _ make: @escaping @Sendable (TransportRequest, (any Error)?) async throws -> TransportResponse?
    ) {
        self.make = make
        self.covers =
            covers ?? { outcome in
                if case .failure(let error) = outcome, let code = NetworkError.code(of: error) {
                    return [.circuitOpen, .overloaded].contains(code) || Resilience.isTrouble(outcome)
                }
                return Resilience.isTrouble(outcome)
            }
    }

    /// Passes the request on, and replaces an outcome that it covers.
    public func intercept(_ request: TransportRequest, in call: Call, next: Next) async throws -> TransportResponse {
        let outcome: Result<TransportResponse, any Error>
        do { outcome = .success(try await next(request)) } catch { outcome = .failure(error) }
        guard covers(outcome) else { return try outcome.get() }
        let error: (any Error)? = if case .failure(let error) = outcome { error } else { nil }
        guard let replacement = try await make(request, error) else { return try outcome.get() }
        await (try? outcome.get())?.drain()
        return replacement
    }
}
