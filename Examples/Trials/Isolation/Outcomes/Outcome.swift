/// How an exchange goes: what the peer does, by the outcome's name, and what the caller does.
struct Outcome: Sendable {
    let name: String
    let act: Act
    let ground: Ground
    /// Whether two runs of it alone come to the same, so that it can stand at the end of a sequence.
    let isSteady: Bool

    init(_ name: String, _ act: Act = .send, on ground: Ground = .peer, isSteady: Bool = false) {
        (self.name, self.act, self.ground, self.isSteady) = (name, act, ground, isSteady)
    }

    /// What the caller does.
    enum Act: Sendable, Hashable {
        /// Sends, and reads the whole body.
        case send
        /// Sends a request that its options forbid.
        case sendRefused
        /// Sends after another one of its kind.
        case sendAfterOne
        /// Sends, and goes on when the peer has sent more than the answer.
        case sendAndAwaitSurplus
        /// Sends while its place and the waiting room are taken.
        case sendOverloaded
        /// Waits for its place, and gives up; or its time is over.
        case cancelQueued
        case timeOutQueued
        /// Gives up when the peer has come to a point, or some milliseconds after the start.
        case cancel(at: String)
        case cancelAfter(Int)
        /// The named timeout is short.
        case timeOut(Limit)
        /// Reads the first of the body and gives up, or none of it.
        case cancelBody
        case dropBody
    }

    enum Limit: Sendable { case connect, idle, total, firstByte }

    /// Where the request goes.
    enum Ground: Sendable {
        case peer
        /// Ports that never accept.
        case full
        /// Ports that accept and are silent.
        case silent
        /// Names that are asked of a silent name service.
        case nameless
    }

    /// How many other requests it takes to bring it about.
    var helpers: Int {
        switch act {
        case .sendOverloaded: 2
        case .cancelQueued, .timeOutQueued: 1
        default: 0
        }
    }

    static let named = Dictionary(uniqueKeysWithValues: all.map { ($0.name, $0) })

    static let all: [Outcome] = answers + faults + refusals + ends

    private static let answers: [Outcome] = [
        Outcome("ok", isSteady: true),
        Outcome("close", isSteady: true),
        Outcome("chunked", isSteady: true),
        Outcome("interim", isSteady: true),
        Outcome("gzip", isSteady: true),
        Outcome("empty", isSteady: true),
        Outcome("not-found", isSteady: true),
        Outcome("unavailable"),
        Outcome("large"),
        Outcome("folded", isSteady: true),
        Outcome("cookies", isSteady: true),
        Outcome("redirect", isSteady: true),
        Outcome("redirect-307", isSteady: true),
        Outcome("challenge-401", isSteady: true),
        Outcome("challenge-again", isSteady: true),
        Outcome("challenge-close"),
        Outcome("challenge-407", isSteady: true),
        Outcome("tunnel-refused"),
        Outcome("http10", isSteady: true),
        Outcome("http10-close"),
        Outcome("http10-known", .sendAfterOne),
        Outcome("http10-401"),
        Outcome("http10-407"),
        Outcome("close-if-kept", isSteady: true),
    ]

    private static let faults: [Outcome] = [
        Outcome("silent-close"),
        Outcome("waiting-reset"),
        Outcome("sending-reset"),
        Outcome("head-reset"),
        Outcome("body-reset"),
        Outcome("body-truncated"),
        Outcome("gzip-broken"),
        Outcome("surplus"),
        Outcome("surplus-answer"),
        Outcome("surplus-answer-with-body"),
        Outcome("surplus-late", .sendAndAwaitSurplus),
        Outcome("surplus-answer-late", .sendAndAwaitSurplus),
        Outcome("early-close"),
        Outcome("early-keep"),
        Outcome("early-401"),
        // The body is read from whatever comes next.
        Outcome("early-ok"),
        Outcome("refused-expectation"),
        Outcome("bad-line"),
        Outcome("bad-first-field", isSteady: true),
        Outcome("bad-length"),
        // The response may end elsewhere: what comes next gets the rest of it.
        Outcome("length-list"),
        Outcome("length-word"),
        Outcome("chunked-twice"),
        Outcome("length-and-chunks"),
        Outcome("http10-chunked"),
        Outcome("length-on-204"),
        // The head of another response comes in the same packet, and more of it with the next request.
        Outcome("surplus-behind-chunks"),
        Outcome("surplus-behind-204"),
        Outcome("http2-line"),
        Outcome("bad-chunk"),
        Outcome("huge-head"),
        Outcome("tls-reset"),
        Outcome("tls-garbage"),
    ]

    private static let refusals: [Outcome] = [
        Outcome("refused", .sendRefused),
        Outcome("overloaded", .sendOverloaded),
        Outcome("queued-cancelled", .cancelQueued),
        Outcome("queued-timeout", .timeOutQueued),
    ]

    private static let ends: [Outcome] = [
        Outcome("resolving-cancelled", .cancel(at: "silent"), on: .nameless),
        Outcome("resolving-timeout", .timeOut(.connect), on: .nameless),
        Outcome("connecting-cancelled", .cancelAfter(10), on: .full),
        Outcome("connecting-timeout", .timeOut(.connect), on: .full),
        Outcome("silent-cancelled", .cancel(at: "silent"), on: .silent),
        Outcome("silent-timeout", .timeOut(.total), on: .silent),
        Outcome("sending-stall", .cancel(at: "sending")),
        Outcome("waiting-stall", .cancel(at: "body")),
        Outcome("idle-stall", .timeOut(.idle)),
        Outcome("first-byte-stall", .timeOut(.firstByte)),
        Outcome("body-stall", .timeOut(.total)),
        Outcome("body-cancel", .cancelBody),
        Outcome("body-dropped", .dropBody),
        Outcome("cancelled-at-once", .cancelAfter(0)),
    ]
}
