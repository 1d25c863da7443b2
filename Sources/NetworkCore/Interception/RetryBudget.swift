import Synchronization

/// How many retries a client may spend, all its calls together: when everything fails, retries must not double the
/// load.
///
/// A bucket of tokens. Each call puts a part of one in, each retry takes one out; without one, the outcome counts as it
/// is.
public final class RetryBudget: Sendable {
    struct Bucket: Sendable {
        let capacity: Double
        let perCall: Double
        private(set) var tokens: Double

        init(capacity: Double, perCall: Double) {
            self.capacity = capacity
            self.perCall = perCall
            tokens = capacity
        }

        mutating func earn() { tokens = min(capacity, tokens + perCall) }

        mutating func spend() -> Bool {
            guard tokens >= 1 else { return false }
            tokens -= 1
            return true
        }
    }

    private let bucket: Guarded<Bucket>

    /// A full bucket.
    /// - Parameters:
    ///   - capacity: The most retries at once, 20 by default. Below 1 there are none.
    ///   - perCall: What each call adds, 0.1 by default: in the long run, one retry for ten calls.
    public init(capacity: Double = 20, perCall: Double = 0.1) {
        bucket = Guarded(Bucket(capacity: max(0, capacity), perCall: max(0, perCall)))
    }

    func earn() { bucket.withLock { $0.earn() } }

    func spend() -> Bool { bucket.withLock { $0.spend() } }
}
