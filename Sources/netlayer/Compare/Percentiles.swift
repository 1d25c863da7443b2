/// Durations in order, and the ones that people quote.
struct Percentiles: Sendable {
    private let sorted: [Duration]

    init(_ durations: [Duration]) { sorted = durations.sorted() }

    /// The nearest-rank percentile: the smallest duration that at least so many per cent do not exceed. `nil` without
    /// any.
    func callAsFunction(_ percent: Int) -> Duration? {
        guard !sorted.isEmpty else { return nil }
        let rank = (sorted.count * min(max(percent, 0), 100) + 99) / 100
        return sorted[max(rank, 1) - 1]
    }
}
