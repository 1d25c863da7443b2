/// The loop's time, read once per round, and the callbacks' share of it, which starts over with each call of libcurl.
///
/// @unchecked: only the loop's thread writes and reads it.
final class LoopClock: Unshared<CallShare>, @unchecked Sendable {
    var now = MonotonicTime.now
    /// The number of the current call of libcurl.
    private(set) var call = 0

    init() { super.init(CallShare()) }

    /// Prepares for the next call of libcurl.
    func beginCall() {
        state = CallShare()
        call &+= 1
    }
}

/// The share of bodies that one call of libcurl may deliver.
///
/// One call reads up to a hundred buffers for each transfer that is ready, and each buffer may hold thousands of
/// chunks. So a transfer whose chunk arrives when the share is spent pauses, and continues in a call of its own after
/// the others have had their turn.
struct CallShare {
    /// In CPU time: on a busy machine, a pause for each millisecond without a core would only add to the load.
    private static let length = Nanoseconds(.milliseconds(3))
    /// The number of chunks to deliver between two checks of the time.
    private static let stride = 32
    /// The maximum number of chunks after the time is over, up to the end of a buffer: libcurl copies the rest of a
    /// buffer at a pause.
    private static let latePieces = 64
    /// The maximum size of a chunk from libcurl, in bytes. A smaller chunk is the last of its buffer, unless the
    /// transfer coding split it.
    private static let wholePiece = 16 * 1024
    private static let small = 256
    /// The number of small chunks that make up a share. libcurl parses the buffer to its end in any case, which alone
    /// may take longer than a share; during a pause, it joins the chunks.
    private static let smallPieces = 512

    private var pieces = 0
    private var smallOnes = 0
    private var lateOnes = 0
    private var end: MonotonicTime?
    private var isOver = false
    private(set) var isSpent = false
    /// The address where the last late chunk ended, and where its buffer began, if seen.
    private var last: Int?
    private var load: Int?

    /// Counts a chunk that libcurl delivers.
    /// - Parameters:
    ///   - start: The chunk's address.
    ///   - bufferBytes: The size of a full buffer, in bytes.
    /// - Returns: Whether the chunk must wait for another call. The first chunks of a call never do.
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
