import Synchronization

extension RetryInterceptor {
    /// How many retries a client may spend, all its calls together: when everything fails, retries must not double the
    /// load.
    ///
    /// A bucket of tokens. Each call puts a part of one in, each retry takes one out; without one, the outcome counts
    /// as it is.
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

            /// What is no number is nothing, and what is beyond counting the most that can be counted.
            private static func parts(of tokens: Double) -> Int {
                let parts = (tokens * Double(token)).rounded()
                return parts > 0 ? Int(exactly: parts) ?? .max : 0
            }
        }

        private let bucket: Guarded<Bucket>

        /// A full bucket.
        /// - Parameters:
        ///   - capacity: The most retries at once, 20 by default. Below 1 there are none.
        ///   - perCall: What each call adds, 0.1 by default: in the long run, one retry for ten calls. To a billionth.
        public init(capacity: Double = 20, perCall: Double = 0.1) {
            bucket = Guarded(Bucket(capacity: capacity, perCall: perCall))
        }

        func earn() { bucket.withLock { $0.earn() } }

        func spend() -> Bool { bucket.withLock { $0.spend() } }
    }
}
