import Synchronization

extension RetryInterceptor {
    /// The limit on retries of a client, over all its calls: when everything fails, retries must not double the load.
    ///
    /// The budget is a token bucket. Each call adds a part of a token, and each retry takes one token. Without a token
    /// there is no retry, and the outcome is returned as it is.
    public final class Budget: Sendable {
        /// Counted in billionths: ten times a tenth of a `Double` is less than 1.
        struct Bucket: Sendable {
            private static let token = 1_000_000_000
            private let capacity: Int
            private let perCall: Int
            private var parts: Int

            init(capacity: Double, perCall: Double) {
                self.capacity = Self.parts(of: capacity)
                self.perCall = Self.parts(of: perCall)
                parts = self.capacity
            }

            mutating func earn() { parts += min(perCall, capacity - parts) }

            mutating func spend() -> Bool {
                guard parts >= Self.token else { return false }
                parts -= Self.token
                return true
            }

            /// Converts tokens to billionths. NaN counts as 0, and a number beyond `Int` as its maximum.
            private static func parts(of tokens: Double) -> Int {
                let parts = (tokens * Double(token)).rounded()
                return parts > 0 ? Int(exactly: parts) ?? .max : 0
            }
        }

        private let bucket: Guarded<Bucket>

        /// Creates a full bucket.
        /// - Parameters:
        ///   - capacity: The limit on retries at once, in tokens. Default: 20. Below 1 there are no retries.
        ///   - perCall: The part of a token that each call adds, exact to a billionth. Default: 0.1, which in the long
        ///     run is one retry for ten calls.
        public init(capacity: Double = 20, perCall: Double = 0.1) {
            bucket = Guarded(Bucket(capacity: capacity, perCall: perCall))
        }

        func earn() { bucket.withLock { $0.earn() } }

        func spend() -> Bool { bucket.withLock { $0.spend() } }
    }
}
