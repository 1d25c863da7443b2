/// How much of bodies one call of libcurl may hand out.
///
/// One call reads up to a hundred buffer-loads of each transfer that is ready, and each may hold thousands of pieces.
/// So a transfer whose piece comes when the share is spent pauses, and goes on in a call of its own after the others
/// had their turn.
struct CallShare {
    /// In computing time: on a busy machine, a pause for each millisecond without a core would only add to the load.
    private static let length = Nanoseconds(.milliseconds(3))
    /// How many pieces are handed out before the time is looked at.
    private static let stride = 32
    /// So many pieces may come once the time is over, to the end of a buffer-load: libcurl copies what a pause leaves
    /// of it.
    private static let latePieces = 64
    /// libcurl hands out no piece of more bytes. One of fewer is the last of its load, unless it is a chunk.
    private static let wholePiece = 16 * 1024
    private static let small = 256
    /// So many small pieces are a share. The load is taken apart to its end in any case, which alone may take longer
    /// than a share; during a pause, libcurl joins the pieces.
    private static let smallPieces = 512

    private var pieces = 0
    private var smallOnes = 0
    private var lateOnes = 0
    private var end: MonotonicTime?
    private var isOver = false
    private(set) var isSpent = false
    /// Where the last late piece ended, and where its load began, if that was seen.
    private var last: Int?
    private var load: Int?

    /// Counts a piece that libcurl hands out.
    /// - Parameters:
    ///   - start: The piece's place in memory.
    ///   - bufferBytes: The size of a whole buffer-load.
    /// - Returns: Whether it has to wait for another call. The first pieces of a call never do.
    mutating func isSpent(by bytes: Int, at start: Int, of bufferBytes: @autoclosure () -> Int) -> Bool {
        guard !isSpent else { return true }
        pieces += 1
        if bytes < Self.small {
            smallOnes += 1
            if smallOnes > Self.smallPieces { isSpent = true }
        }
        if isOver {
            lateOnes += 1
            if let last, last != start { load = start }
            last = start + bytes
            let endsLoad = bytes < Self.wholePiece || load.map { last == $0 + bufferBytes() } ?? false
            isSpent = isSpent || endsLoad || lateOnes >= Self.latePieces
        } else if pieces.isMultiple(of: Self.stride) {
            let now = MonotonicTime.computing
            if let end { isOver = end <= now } else { end = now + Self.length }
        }
        return isSpent
    }
}
