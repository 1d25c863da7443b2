/// How long one part of a round may go on with more of the same: messages, clocks, events. The rest is for the next
/// round, so that neither many requests nor a peer keeps the loop from the others. Each part does some of its work in
/// every round.
struct RoundShare {
    private static let length = Nanoseconds(.milliseconds(5))

    /// So many pieces are done before the time is looked at.
    private let stride: Int
    private var done = 0
    private var end: MonotonicTime?

    /// - Parameter start: When its work began; without, the time runs from the first look.
    init(stride: Int = 1, from start: MonotonicTime? = nil) {
        self.stride = stride
        end = start.map { $0 + Self.length }
    }

    /// Counts a piece of work that is done.
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
