/// The flow of one response's body from a transport to its reader: who waits, how much is held, when the sender must
/// pause. Pure: it counts bytes and holds none; each event returns what to do.
package struct BodyFlow: Sendable {
    /// Above this many bytes nobody has read, the sender pauses until somebody reads, who gets all of them at once.
    package static let highMark = 256 * 1024
    /// The same while few bodies are on their way: a body of up to 1 MiB then comes without a pause.
    package static let roomyMark = 1024 * 1024

    /// What the reader wants.
    package enum Mode: Sendable, Equatable {
        /// Chunk by chunk, as they come.
        case chunks
        /// The whole body at its end, up to a limit in bytes.
        case whole(limit: Int)
        /// Nothing more: what still comes is dropped.
        case nothing
    }

    package private(set) var mode = Mode.chunks
    /// Arrived and not yet read.
    package private(set) var held = 0
    /// Arrived in all.
    package private(set) var received = 0
    package private(set) var isPaused = false
    package private(set) var hasEnded = false
    private var readerWaits = false

    package init() {}

    // MARK: From the transport

    /// What to do with bytes that arrived.
    package enum Verdict: Equatable, Sendable { case take, drop, pause, tooLarge(limit: Int) }

    /// What happens while the body is not read: the sender is paused, or, where that is impossible, the exchange fails
    /// beyond a limit in bytes.
    package enum WhenFull: Equatable, Sendable { case pause(above: Int = BodyFlow.highMark), fail(limit: Int) }

    /// Bytes have arrived.
    package mutating func arrived(_ count: Int, whenFull: WhenFull) -> Verdict {
        switch (mode, whenFull) {
        case (.nothing, _):
            received += count
            return .drop
        case (.whole(let limit), _) where count > limit - held: return .tooLarge(limit: limit)
        case (.chunks, .fail(let limit)) where count > limit - held: return .tooLarge(limit: limit)
        case (.chunks, .pause(let mark)) where held > 0 && held + count > mark:
            isPaused = true
            return .pause
        default:
            held += count
            received += count
            return .take
        }
    }

    /// The transport has nothing more for now. Called once per event round, so that a reader wakes once per round.
    /// - Returns: Whether to wake the reader.
    package mutating func roundEnded() -> Bool {
        guard readerWaits, hasEnded || (mode == .chunks && held > 0) else { return false }
        readerWaits = false
        return true
    }

    /// What is held was given to the reader.
    package mutating func handOver() { held = 0 }

    /// The body is complete, or has failed.
    package mutating func end() {
        hasEnded = true
        isPaused = false
    }

    // MARK: From the reader

    /// What a reader gets.
    package enum Reading: Equatable { case everythingHeld, wait, atEnd }

    /// The reader asks for the next chunk, which is everything that is held.
    /// - Returns: What to give, and whether the sender must be told to go on.
    package mutating func read() -> (reading: Reading, resumesSender: Bool) {
        if held > 0 {
            held = 0
            defer { isPaused = false }
            return (.everythingHeld, isPaused)
        }
        if hasEnded { return (.atEnd, false) }
        readerWaits = true
        // A sender that paused while its reader was on the way here would wait for ever.
        defer { isPaused = false }
        return (.wait, isPaused)
    }

    /// The reader wants the whole body at its end.
    package mutating func collect(upTo limit: Int) -> (reading: Reading, resumesSender: Bool, isTooLarge: Bool) {
        guard held <= limit else { return (.atEnd, false, true) }
        mode = .whole(limit: limit)
        if hasEnded { return (.everythingHeld, false, false) }
        readerWaits = true
        defer { isPaused = false }
        return (.wait, isPaused, false)
    }

    /// The reader has gone.
    /// - Returns: Whether the transport has to be told.
    package mutating func discard() -> Bool {
        guard mode != .nothing else { return false }
        mode = .nothing
        held = 0
        isPaused = false
        return !hasEnded
    }

}
