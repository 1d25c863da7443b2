import NetworkCore
import NetworkResilience

/// The values of the steps of ``NetworkResilience/Resilience``, which are states once they are made.
struct ResilienceValues: Sendable {
    enum Concurrency: Sendable, Equatable { case adaptive, fixed(Int), none }

    var retries = RetryInterceptor.Policy()
    var budgetCapacity = 20.0
    var budgetPerCall = 0.1
    var attemptTimeout: Duration? = .seconds(10)
    var concurrency = Concurrency.adaptive
    var maximumConcurrency = 1_000
    var initialConcurrency = 100
    var maximumQueued = 1_000
    var maximumWait = Duration.milliseconds(250)
    var rate: Int?
    var ratePeriod = Duration.seconds(1)
    var rateBurst = 1
    var rateWait = Duration.seconds(1)
    var hedgingPercentile: Double?
    var hasBreaker = true
    var breaker = CircuitBreaker.Options()

    /// Makes the steps, with states of their own.
    /// - Parameter mayAddTotalTimeout: Whether a client without a total timeout gets the standard one.
    func steps(mayAddTotalTimeout: Bool) -> Resilience {
        var steps = Resilience()
        steps.retries = retries
        steps.budget = RetryInterceptor.Budget(capacity: budgetCapacity, perCall: budgetPerCall)
        steps.attemptTimeout = attemptTimeout
        let limit: ConcurrencyLimit.Limit? =
            switch concurrency {
            case .none: nil
            case .fixed(let number): .fixed(number)
            case .adaptive: .adaptive(upTo: maximumConcurrency, initial: initialConcurrency)
            }
        steps.concurrency = limit.map {
            ConcurrencyLimit($0, maximumQueued: maximumQueued, maximumWait: maximumWait)
        }
        steps.rate = rate.map { RateLimit($0, per: ratePeriod, burst: rateBurst, maximumWait: rateWait) }
        steps.hedgingPercentile = hedgingPercentile
        steps.breaker = hasBreaker ? CircuitBreaker(options: breaker) : nil
        if !mayAddTotalTimeout { steps.totalTimeout = nil }
        return steps
    }
}
