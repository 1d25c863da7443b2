/// An interceptor that retries temporary failures. ``RetryInterceptor/Policy`` decides which, and
/// ``RetryInterceptor/Budget`` how many in all.
///
/// ```swift
/// client.interceptors.append(.retry())
/// ```
///
/// It belongs in ``NetworkClient/interceptors``: a retry repeats the whole call, redirects included. It never waits
/// beyond the call's total timeout: if the pause does not fit, the last outcome is returned at once.
public struct RetryInterceptor: Interceptor {
    /// The outcomes that are retried.
    public var policy: Policy
    private let budget: Budget
    private let time: TimeSource

    /// Creates an interceptor with a policy and a budget. Copies share the budget.
    public init(
        _ policy: Policy = Policy(),
        budget: Budget = Budget(), time: TimeSource = .system
    ) {
        self.policy = policy
        self.budget = budget
        self.time = time
    }

    /// Passes the request on, and again as often as the policy and the budget allow.
    public func intercept(_ request: TransportRequest, in call: Call, next: Next)
        async throws -> TransportResponse
    {
        try OptionCheck.atLeast(0, policy.maximumRetries, "policy.maximumRetries")
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
            do {
                try await time.sleep(delay, discarding: try? outcome.get())
            } catch is CancellationError {
                throw NetworkError.cancelled
            }
            call.beginRetry(after: try? outcome.get())
            retries += 1
        }
    }
}

extension Interceptor where Self == RetryInterceptor {
    /// Retries temporary failures.
    public static func retry(
        _ policy: RetryInterceptor.Policy = RetryInterceptor.Policy(),
        budget: RetryInterceptor.Budget = RetryInterceptor.Budget(),
        time: TimeSource = .system
    ) -> RetryInterceptor {
        RetryInterceptor(policy, budget: budget, time: time)
    }
}
