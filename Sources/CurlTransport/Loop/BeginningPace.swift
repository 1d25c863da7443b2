/// How many transfers begin in one round that may need a TLS connection. libcurl begins all of them in its next call,
/// which can't be divided: that is a millisecond for each new connection, and a hundredth of it over a kept one.
struct BeginningPace {
    private static let counts = 4...16
    private static let longest = Nanoseconds(.milliseconds(4))
    private static let short = Nanoseconds(.milliseconds(2))

    private(set) var count = Self.counts.lowerBound

    /// Takes note of a call that began more than one, and of its time.
    mutating func note(_ begun: Int, from start: MonotonicTime, to end: MonotonicTime) {
        if start + Self.longest < end {
            count = max(count / 2, Self.counts.lowerBound)
        } else if begun >= count, end <= start + Self.short {
            count = min(count * 2, Self.counts.upperBound)
        }
    }
}
