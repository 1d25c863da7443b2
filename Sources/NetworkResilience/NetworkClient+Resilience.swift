public import NetworkCore

/// The steps of ``NetworkCore/NetworkClient/resilient(_:)``, in their order.
public struct Resilience: Sendable {
    /// The limit on requests in flight; `nil` for none. Default: adaptive, up to 1,000 for each origin, where .NET has
    /// 1,000 fixed ones: a server that is overloaded by 200 is not helped by 1,000.
    public var concurrency: ConcurrencyLimit? = ConcurrencyLimit(.adaptive(initial: 100))
    /// The limit on the rate; `nil`, the default, for none.
    public var rate: RateLimit?
    /// What is retried. Default: 2 retries of idempotent requests with pauses of up to 200 ms, doubled, where .NET has
    /// 3 with 2 s: a caller of a service rarely waits for longer.
    public var retries = RetryInterceptor.Policy()
    /// The budget that retries and hedges share. Default: one for ten calls, which neither Polly nor .NET has.
    public var budget = RetryInterceptor.Budget()
    /// Whether slow requests are sent a second time, after which percentile; `nil`, the default, for none.
    public var hedgingPercentile: Double?
    /// The breaker; `nil` for none. Default: half of 20 in 10 s, for 5 s, where .NET has a tenth of 100 in
    /// 30 s: that stops a server which still serves most.
    public var breaker: CircuitBreaker? = CircuitBreaker()
    /// The longest time of an attempt; `nil` for none. Default: 10 s, as in .NET.
    public var attemptTimeout: Duration? = .seconds(10)
    /// The longest time of the call, if the client has none. Default: 30 s, as in .NET.
    public var totalTimeout: Duration? = .seconds(30)

    /// Creates the steps with their defaults.
    public init() {}

    /// The defaults. Each access makes states of its own: keep the client.
    public static var standard: Resilience { Resilience() }
}

extension Resilience {
    /// Whether the outcome says that the server, or the way to it, is in trouble: a failure of the network, a timeout,
    /// or one of the statuses 408, 429 and 500 to 599.
    public static func isTrouble(_ outcome: Result<TransportResponse, any Error>) -> Bool {
        switch outcome {
        case .success(let response):
            return response.status.code >= 500 || [408, 429].contains(response.status.code)
        case .failure(let error):
            guard let code = NetworkError.code(of: error) else { return false }
            return NetworkError.Code.networkFailures.contains(code) || [.totalTimeout, .attemptTimeout].contains(code)
        }
    }
}

extension NetworkClient {
    /// Returns the client with steps against servers that fail or are slow, in this order, behind the client's own:
    /// retries, hedging, concurrency, breaker, attempt timeout; and around each exchange, the rate. So the limits and
    /// the breaker see each attempt, and a call that pauses holds no place.
    ///
    /// ```swift
    /// let client = NetworkClient(transport: CurlNetworkDispatcher.shared, baseURL: "http://orders").resilient()
    /// ```
    ///
    /// Make the client once: its copies share the states, and another client has its own. A second call adds the steps
    /// a second time.
    public func resilient(_ resilience: Resilience = .standard) -> NetworkClient {
        with { client in
            if client.options.totalTimeout == nil { client.options.totalTimeout = resilience.totalTimeout }
            var retries = resilience.retries
            retries.codes.insert(.attemptTimeout)
            client.interceptors.append(.retry(retries, budget: resilience.budget))
            if let percentile = resilience.hedgingPercentile {
                client.interceptors.append(Hedging(after: percentile, budget: resilience.budget))
            }
            if let concurrency = resilience.concurrency { client.interceptors.append(concurrency) }
            if let breaker = resilience.breaker { client.interceptors.append(breaker) }
            if let time = resilience.attemptTimeout { client.interceptors.append(AttemptTimeout(time)) }
            if let rate = resilience.rate { client.exchangeInterceptors.append(rate) }
        }
    }
}
