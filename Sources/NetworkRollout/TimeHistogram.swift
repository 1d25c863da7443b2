import Foundation

/// Times in buckets whose limits grow by 4 %, so that any number of them takes a few kilobytes.
struct TimeHistogram: Sendable {
    private static let bucketsPerDoubling = 16.0

    private var buckets = [Int](repeating: 0, count: 64 * Int(bucketsPerDoubling))
    private var count = 0

    mutating func add(_ time: Duration) {
        let number = Int(log2(max(1, time / .nanoseconds(1))) * Self.bucketsPerDoubling)
        buckets[min(number, buckets.count - 1)] += 1
        count += 1
    }

    /// The median and the 95th percentile, each to 4 %; `nil` without a time.
    var summary: CanaryTransport.Times? {
        guard count > 0 else { return nil }
        return CanaryTransport.Times(count: count, median: quantile(0.5), percentile95: quantile(0.95))
    }

    private func quantile(_ share: Double) -> Duration {
        var rest = max(1, Int((share * Double(count)).rounded(.up)))
        let bucket = buckets.firstIndex { bucket in
            rest -= bucket
            return rest <= 0
        }
        // The middle of the bucket.
        return .nanoseconds(1) * exp2((Double(bucket ?? 0) + 0.5) / Self.bucketsPerDoubling)
    }
}
