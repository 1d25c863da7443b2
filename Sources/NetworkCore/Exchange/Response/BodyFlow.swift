/// The flow of one response's body from a transport to its reader: whether the reader waits, how much is held, when the
/// sender must pause. A pure value: it counts bytes and holds none, and each event returns what to do.
package struct BodyFlow: Sendable {
    /// The number of unread bytes above which the sender pauses.
    package static let highMark = 256 * 1024
    /// The limit while few bodies are in transit, with which a body of up to 1 MiB arrives without a pause.
    package static let roomyMark = 1024 * 1024

    package enum Mode: Sendable, Equatable {
        case chunks
        /// The whole body at its end, up to a limit in bytes.
        case whole(limit: Int)
        /// Not at all: bytes that still arrive are discarded.
        case nothing
    }

    package private(set) var mode = Mode.chunks
    /// The number of bytes that have arrived and are not read yet.
    package private(set) var held = 0
    package private(set) var received = 0
    package private(set) var isPaused = false
    package private(set) var hasEnded = false
    private var readerWaits = false

    package init() {}

    // MARK: From the transport

    package enum Verdict: Equatable, Sendable { case take, drop, pause, tooLarge(limit: Int) }

    /// The action when too much of the body is unread: the sender pauses or, where that is impossible, the exchange
    /// fails above a limit in bytes.
    package enum WhenFull: Equatable, Sendable { case pause(above: Int = BodyFlow.highMark), fail(limit: Int) }

    /// Records that bytes have arrived, and returns what to do with them.
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

    /// Records that the transport has no more events for now. Called once per round of events, so that a reader wakes
    /// once per round.
    /// - Returns: Whether to wake the reader.
    package mutating func roundEnded() -> Bool {
        guard readerWaits, hasEnded || (mode == .chunks && held > 0) else { return false }
        readerWaits = false
        return true
    }

    package mutating func handOver() { held = 0 }

    package mutating func end() {
        hasEnded = true
        isPaused = false
    }

    // MARK: From the reader

    package enum Reading: Equatable { case everythingHeld, wait, atEnd }

    package mutating func read() -> (reading: Reading, resumesSender: Bool) {
        if held > 0 {
            held = 0
            defer { isPaused = false }
            return (.everythingHeld, isPaused)
        }
        if hasEnded { return (.atEnd, false) }
        readerWaits = true
        // A sender that paused just before its reader got here would otherwise wait indefinitely.
        defer { isPaused = false }
        return (.wait, isPaused)
    }

    /// Requests the whole body at its end, up to a limit in bytes.
    package mutating func collect(upTo limit: Int) -> (reading: Reading, resumesSender: Bool, isTooLarge: Bool) {
        guard held <= limit else { return (.atEnd, false, true) }
        mode = .whole(limit: limit)
        if hasEnded { return (.everythingHeld, false, false) }
        readerWaits = true
        defer { isPaused = false }
        return (.wait, isPaused, false)
    }

    package mutating func discard() -> Bool {
        guard mode != .nothing else { return false }
        mode = .nothing
        held = 0
        isPaused = false
        return !hasEnded
    }

}
