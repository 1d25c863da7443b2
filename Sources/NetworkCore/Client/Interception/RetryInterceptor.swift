/// Tries again what failed for a moment: see ``RetryInterceptor/Policy`` for what, ``RetryInterceptor/Budget`` for how
/// often in all.
///
/// ```swift
/// client.interceptors.append(.retry())
/// ```
///
/// It belongs into ``NetworkClient/interceptors``: what is tried again is the whole, redirects included. It never waits
/// beyond the call's total timeout: if the pause does not fit, the last outcome is the call's, at once.
public struct RetryInterceptor: Interceptor {
    /// What is tried again.
    public var policy: Policy
    private let budget: Budget
    private let time: TimeSource

    /// Retries by a policy, within a budget. Copies share the budget.
    public init(
        _ policy: Policy = Policy(),
        budget: Budget = Budget(), time: TimeSource = .system
    ) {
        self.policy = policy
        self.budget = budget
        self.time = time
    }

    /// Sends the request on, and again as often as it may.
    public func intercept(_ request: TransportRequest, in call: Call, next: Next)
        async throws -> TransportResponse
    {
        budget.earn()
        guard policy.covers(request) else { return try await next(request) }
        var retries = 0
        while true {
            let outcome: Result<TransportResponse, any Error>
            do {
                outcome = .success(try await next(request))
            } catch {
                outcome = .failure(error)
            }
            let delay = policy.delay(after: outcome, retries: retries, now: time.now(), random: time.random())
            guard let delay, call.remaining.map({ delay < $0 }) ?? true, budget.spend() else {
                return try outcome.get()
            }
            try await pause(delay, givingUp: outcome)
            call.beginRetry()
            retries += 1
        }
    }

    /// Waits, and meanwhile frees the connection of an answer that is given up.
    private func pause(_ delay: Duration, givingUp outcome: Result<TransportResponse, any Error>) async throws {
        do {
            if case .success(let response) = outcome {
                async let drained: Void = response.drain()
                try await time.sleep(delay)
                await drained
            } else {
                try await time.sleep(delay)
            }
        } catch is CancellationError {
            throw NetworkError.cancelled
        }
    }
}

extension Interceptor where Self == RetryInterceptor {
    /// Tries again what failed for a moment.
    public static func retry(
        _ policy: RetryInterceptor.Policy = RetryInterceptor.Policy(),
        budget: RetryInterceptor.Budget = RetryInterceptor.Budget(),
        time: TimeSource = .system
    ) -> RetryInterceptor {
        RetryInterceptor(policy, budget: budget, time: time)
    }
}
