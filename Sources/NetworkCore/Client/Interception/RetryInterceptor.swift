package import FoundationEssentials
public import HTTPTypes
import Synchronization

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

    /// The outcomes that are retried, how often, and after which pause.
    public struct Policy: Sendable {
        /// The limit on retries of one call, 0 or more. Default: 2. A negative one fails the call with
        /// ``NetworkError/Code/invalidOption``.
        public var maximumRetries = 2
        /// The methods that are retried. Default: GET, HEAD, OPTIONS, PUT and DELETE, which are idempotent
        /// ([RFC 9110 §9.2.2](https://www.rfc-editor.org/rfc/rfc9110#section-9.2.2)). Add `.post` if the server can
        /// recognize a request that it has already seen.
        public var methods: Set<HTTPRequest.Method> = [.get, .head, .options, .put, .delete]
        /// The statuses that are retried. Default: 408, 425, 429, 502, 503 and 504. 500 is not among them, since it is
        /// usually a fault that stays.
        public var statuses: Set<Int> = [408, 425, 429, 502, 503, 504]
        /// The failures that are retried. Default: those of the network, namely
        /// ``NetworkError/Code/nameNotResolved``, ``NetworkError/Code/connectFailed``,
        /// ``NetworkError/Code/connectTimeout``, ``NetworkError/Code/proxyFailed``,
        /// ``NetworkError/Code/connectionLost``, ``NetworkError/Code/firstByteTimeout``,
        /// ``NetworkError/Code/idleTimeout``, ``NetworkError/Code/lowSpeed`` and ``NetworkError/Code/truncatedBody``. A
        /// failure in the middle of a body is not retried, since the response has been returned by then.
        public var codes: Set<NetworkError.Code> = NetworkError.Code.networkFailures
        /// The limit on the first pause; it doubles with each retry. Default: 200 ms. The pause is a random part of it
        /// ("full jitter"), so that clients that failed together don't retry together.
        public var baseDelay = Duration.milliseconds(200)
        /// The limit on a pause without `Retry-After`. Default: 20 s.
        public var maximumDelay = Duration.seconds(20)
        /// The limit on a pause that the server requests with `Retry-After`. Default: 60 s. A longer one ends the call
        /// with the response it has, since an earlier retry would be against the server's request.
        public var maximumRetryAfter = Duration.seconds(60)

        /// Creates a policy with the defaults.
        public init() {}

        func covers(_ request: TransportRequest) -> Bool {
            methods.contains(request.method) && (request.body?.isReplayable ?? true)
        }

        /// Returns the pause before the next attempt; `nil` for an outcome that is not retried.
        func delay(
            after outcome: Result<TransportResponse, any Error>,
            retries: Int,
            now: @autoclosure () -> Date,
            random: @autoclosure () -> Double
        ) -> Duration? {
            guard retries < maximumRetries else { return nil }
            switch outcome {
            case .success(let response):
                guard statuses.contains(response.head.status.code) else { return nil }
                guard let wish = RetryAfter.duration(in: response.head.headerFields, now: now()) else {
                    return backOff(retries, random())
                }
                return wish > maximumRetryAfter ? nil : max(wish, backOff(retries, random()))
            case .failure(let error):
                guard let error = error as? NetworkError, codes.contains(error.code) else { return nil }
                return backOff(retries, random())
            }
        }

        private func backOff(_ retries: Int, _ random: Double) -> Duration {
            let longest = BackOff(first: baseDelay, limit: maximumDelay).delay(after: retries + 1, jitter: 0)
            return longest * (random > 0 ? min(random, 1) : 0)
        }
    }

    /// The limit on retries of a client, over all its calls: when everything fails, retries must not double the load.
    ///
    /// The budget is a token bucket. Each call adds a part of a token, and each retry takes one token. Without a token
    /// there is no retry, and the outcome is returned as it is.
    public final class Budget: Sendable {
        /// Counted in billionths: ten times a tenth of a `Double` is less than 1.
        private static let token = 1_000_000_000
        private let capacity: Int
        private let perCall: Int
        private let parts: Guarded<Int>

        /// Creates a full bucket.
        /// - Parameters:
        ///   - capacity: The limit on retries at once, in tokens. Default: 20. Below 1 there are no retries.
        ///   - perCall: The part of a token that each call adds, exact to a billionth. Default: 0.1, which in the long
        ///     run is one retry for ten calls.
        public init(capacity: Double = 20, perCall: Double = 0.1) {
            (self.capacity, self.perCall) = (Self.parts(of: capacity), Self.parts(of: perCall))
            parts = Guarded(self.capacity)
        }

        private static func parts(of tokens: Double) -> Int {
            let parts = (tokens * Double(token)).rounded()
            return parts > 0 ? Int(exactly: parts) ?? .max : 0
        }

        package func earn() { parts.withLock { $0 += min(perCall, capacity - $0) } }

        package func spend() -> Bool {
            parts.withLock { parts in
                guard parts >= Self.token else { return false }
                parts -= Self.token
                return true
            }
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

/// The pause that a server requests (RFC 9110 §10.2.3).
package enum RetryAfter {
    /// Returns the time from now, the longest of several; `nil` without the field and for a value that is neither
    /// seconds nor a date. A date in the past is zero.
    package static func duration(in fields: HTTPFields, now: Date) -> Duration? {
        fields[values: .retryAfter].compactMap { duration($0, now: now) }.max()
    }

    private static func duration(_ text: String, now: Date) -> Duration? {
        // URLSession joins repeated fields: `1, 30`.
        let parts = text.utf8.split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false)
        let numbers = parts.compactMap { part in seconds(part.drop { $0 == UInt8(ascii: " ") }) }
        if numbers.count == parts.count, let longest = numbers.max() { return .seconds(longest) }
        guard let date = FieldDate.parse(text) else { return nil }
        return .seconds(min(max(0, date.timeIntervalSince(now)), Double(longest)))
    }

    private static func seconds(_ digits: Substring.UTF8View) -> Int64? {
        guard !digits.isEmpty, digits.allSatisfy(\.isDigit) else { return nil }
        return min(Int64(Substring(digits)) ?? .max, longest)
    }

    /// The longest time in seconds, which no addition of a few overflows.
    private static let longest: Int64 = 1 << 40
}
