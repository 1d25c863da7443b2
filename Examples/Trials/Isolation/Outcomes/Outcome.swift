/// The course of an exchange: the behavior of the peer, by the outcome's name, and the behavior of the caller.
struct Outcome: Sendable {
    let name: String
    let act: Act
    let ground: Ground
    /// Whether two runs of it alone give the same result, so that it can come last in a sequence.
    let isSteady: Bool

    init(_ name: String, _ act: Act = .send, on ground: Ground = .peer, isSteady: Bool = false) {
        (self.name, self.act, self.ground, self.isSteady) = (name, act, ground, isSteady)
    }

    /// The behavior of the caller.
    enum Act: Sendable, Hashable {
        /// Sends, and reads the whole body.
        case send
        /// Sends a request that its options forbid.
        case sendRefused
        /// Sends after another request of the same kind.
        case sendAfterOne
        /// Sends, and continues when the peer has sent more than the response.
        case sendAndAwaitSurplus
        /// Sends while its place and the queue are taken.
        case sendOverloaded
        /// Waits for its place, and is cancelled or times out.
        case cancelQueued
        case timeOutQueued
        /// Is cancelled when the peer reaches a point, or some milliseconds after the start.
        case cancel(at: String)
        case cancelAfter(Int)
        /// Has a short timeout of the named kind.
        case timeOut(Limit)
        /// Reads the first chunk of the body and is cancelled, or reads nothing and drops the body.
        case cancelBody
        case dropBody
    }

    enum Limit: Sendable { case connect, idle, total, firstByte }

    /// The destination of the request.
    enum Ground: Sendable {
        case peer
        /// Ports that never accept.
        case full
        /// Ports that accept and send nothing.
        case silent
        /// Names that a silent name service looks up.
        case nameless
    }

    /// The number of other requests that the outcome needs.
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
        Outcome("challenge-404"),
        Outcome("challenge-surplus"),
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
        // The peer reads the rest of the body as the next request.
        Outcome("early-ok"),
        Outcome("refused-expectation"),
        Outcome("bad-line"),
        Outcome("bad-first-field", isSteady: true),
        Outcome("bad-length"),
        // The response may end elsewhere: the next request gets the rest of it.
        Outcome("length-list"),
        Outcome("length-word"),
        Outcome("chunked-twice"),
        Outcome("length-and-chunks"),
        Outcome("http10-chunked"),
        Outcome("length-on-204"),
        // The head of another response comes in the same packet, and the rest of it with the next request.
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
