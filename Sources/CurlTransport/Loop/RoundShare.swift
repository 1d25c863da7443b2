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
