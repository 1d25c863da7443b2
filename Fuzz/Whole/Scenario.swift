/// A sequence of requests over one dispatcher, and the peer's behavior for each of them. Every byte string is a
/// scenario; `Fuzz/Whole/README.md` describes the language.
struct Scenario {
    /// The most requests in a scenario.
    static let maximumAsks = 8

    var asks: [Ask] = []

    /// Whether requests are in flight at the same time, so that bytes of the peer may cross them on the wire.
    var isConcurrent: Bool { asks.contains(where: \.isJoined) }
}

/// One request, and the replies to it in the order in which the peer receives its exchanges.
struct Ask {
    /// The most exchanges with a reply of their own.
    static let maximumReplies = 8

    var method: String
    /// The words that describe the request, with their values; a value is empty if the word needs none.
    var words: [String: String] = [:]
    var replies: [Reply] = []

    func has(_ word: String) -> Bool { words[word] != nil }

    /// Returns the number of a word, clamped to a range.
    func number(_ word: String, in range: ClosedRange<Int>) -> Int? {
        guard let value = words[word].flatMap({ Int($0) }) else { return nil }
        return min(max(value, range.lowerBound), range.upperBound)
    }

    /// Whether it starts together with the next request.
    var isJoined: Bool { has("joined") }
    /// Whether the peer stalls in one of its replies.
    var isStalled: Bool { replies.contains { $0.steps.contains(.stall) } }
    var isIdempotent: Bool { !["POST", "PATCH"].contains(method) }
}

/// The peer's behavior for one exchange.
struct Reply {
    /// Whether it starts when the head has arrived, without waiting for the body.
    var isEarly = false
    var steps: [Step] = []

    enum Step: Equatable {
        /// Bytes that are sent together with the bytes before them.
        case bytes([UInt8])
        /// A pause: the bytes so far are sent before the ones that follow.
        case split
        /// No more bytes are sent; bytes from the client are still read.
        case close
        /// The connection is closed, even with unread bytes.
        case drop
        /// The connection is reset (RST).
        case reset
        /// Nothing is sent until the client disconnects or sends another request.
        case stall
        /// The caller cancels now.
        case cancel
        /// A frame on the request's stream, or on the connection's, 0; nothing over HTTP/1.1.
        case frame(type: UInt8, flags: UInt8, isOfConnection: Bool, payload: [UInt8])
        /// A GOAWAY frame whose last stream is the request's, or the one below it; nothing over HTTP/1.1.
        case goAway(isBelow: Bool)
    }

    /// All the bytes, regardless of the steps between them.
    var bytes: [UInt8] {
        steps.flatMap { step -> [UInt8] in
            if case .bytes(let bytes) = step { return bytes }
            return []
        }
    }
}
