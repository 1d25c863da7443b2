/// Sorted durations and their percentiles.
struct Percentiles: Sendable {
    private let sorted: [Duration]

    init(_ durations: [Duration]) { sorted = durations.sorted() }

    /// Returns the nearest-rank percentile: the smallest duration that at least the given percentage of the durations
    /// do not exceed. `nil` if there are no durations.
    func callAsFunction(_ percent: Int) -> Duration? {
        guard !sorted.isEmpty else { return nil }
        let rank = (sorted.count * min(max(percent, 0), 100) + 99) / 100
        return sorted[max(rank, 1) - 1]
    }
}
