/// The time that one part of a round may spend on more of the same: messages, clocks, events. The rest is left for the
/// next round, so that neither many requests nor a peer keeps the loop from the others. Each part does some of its work
/// in every round.
struct RoundShare {
    private static let length = Nanoseconds(.milliseconds(5))

    /// The number of items between two checks of the time.
    private let stride: Int
    private var done = 0
    private var end: MonotonicTime?

    /// - Parameter start: When the work began; if `nil`, the time runs from the first check.
    init(stride: Int = 1, from start: MonotonicTime? = nil) {
        self.stride = stride
        end = start.map { $0 + Self.length }
    }

    /// Counts a finished item.
    /// - Returns: Whether the rest is for the next round.
    mutating func isSpent() -> Bool {
        done += 1
        guard done.isMultiple(of: stride) else { return false }
        let now = MonotonicTime.now
        guard let end else {
            end = now + Self.length
            return false
        }
        return end <= now
    }
}

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
