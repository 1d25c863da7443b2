import FoundationEssentials
public import HTTPTypes

extension RetryInterceptor {
    /// What is tried again, how often, and after how long.
    public struct Policy: Sendable {
        /// How often a call is tried again, 2 by default.
        public var maximumRetries = 2
        /// The methods that are tried again: the idempotent ones (RFC 9110 §9.2.2). Add `.post` where the server can
        /// tell a request that it has seen.
        public var methods: Set<HTTPRequest.Method> = [.get, .head, .options, .put, .delete]
        /// The statuses that are tried again. 500 is not among them: it mostly is a fault that stays.
        public var statuses: Set<Int> = [408, 425, 429, 502, 503, 504]
        /// The failures that are tried again: those of the network, before the response was there. One that comes in
        /// the middle of a body is not: the response was handed on by then.
        public var codes: Set<NetworkError.Code> = [
            .nameNotResolved, .connectFailed, .connectTimeout, .connectionLost, .firstByteTimeout, .idleTimeout,
            .proxyFailed,
        ]
        /// The longest first pause; it doubles with each retry. 200 ms by default. The pause is a random part of it
        /// ('full jitter'), so that those who failed together do not come back together.
        public var baseDelay = Duration.milliseconds(200)
        /// The longest pause of our own choice, 20 s by default.
        public var maximumDelay = Duration.seconds(20)
        /// The longest `Retry-After` that is waited for, 60 s by default. A longer one ends the call with what it has:
        /// coming back before it would be against the server's wish.
        public var maximumRetryAfter = Duration.seconds(60)

        /// The defaults.
        public init() {}

        /// Whether a request may be sent again at all.
        func covers(_ request: TransportRequest) -> Bool {
            methods.contains(request.method) && (request.body?.isReplayable ?? true)
        }

        /// The pause before the next try; `nil` for an outcome that counts.
        func delay(
            after outcome: Result<TransportResponse, any Error>,
            retries: Int,
            now: Date,
            random: Double
        ) -> Duration? {
            guard retries < maximumRetries else { return nil }
            switch outcome {
            case .success(let response):
                guard statuses.contains(response.head.status.code) else { return nil }
                guard let wish = RetryAfter.duration(in: response.head.headerFields, now: now) else {
                    return backOff(retries, random)
                }
                return wish > maximumRetryAfter ? nil : max(wish, backOff(retries, random))
            case .failure(let error):
                guard let error = error as? NetworkError, codes.contains(error.code) else { return nil }
                return backOff(retries, random)
            }
        }

        private func backOff(_ retries: Int, _ random: Double) -> Duration {
            let longest = BackOff(first: baseDelay, limit: maximumDelay).delay(after: retries + 1, jitter: 0)
            return longest * (random > 0 ? min(random, 1) : 0)
        }
    }
}

/// The time that a server asks for (RFC 9110 §10.2.3).
enum RetryAfter {
    /// The time from now, the longest of several; `nil` without the field and for what is neither seconds nor a date.
    /// A date that is over is zero.
    static func duration(in fields: HTTPFields, now: Date) -> Duration? {
        fields[values: .retryAfter].compactMap { duration($0, now: now) }.max()
    }

    private static func duration(_ text: String, now: Date) -> Duration? {
        if !text.isEmpty, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) {
            return .seconds(min(Int64(text) ?? .max, 1 << 40))
        }
        guard let date = HTTPDate.parse(text, now: now) else { return nil }
        return .seconds(max(0, date.timeIntervalSince(now)))
    }
}
