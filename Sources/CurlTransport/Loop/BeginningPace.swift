/// The number of transfers that may need a TLS connection and start in one round. libcurl starts all of them in its
/// next call, which can't be split: that takes a millisecond for each new connection, and a hundredth of that over a
/// kept one.
struct BeginningPace {
    private static let counts = 4...16
    private static let longest = Nanoseconds(.milliseconds(4))
    private static let short = Nanoseconds(.milliseconds(2))

    private(set) var count = Self.counts.lowerBound

    /// Adjusts the number after a call that started more than one, by the time that the call took.
    mutating func note(_ begun: Int, from start: MonotonicTime, to end: MonotonicTime) {
        if start + Self.longest < end {
            count = max(count / 2, Self.counts.lowerBound)
        } else if begun >= count, end <= start + Self.short {
            count = min(count * 2, Self.counts.upperBound)
        }
    }
}
