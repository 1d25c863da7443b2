/// Requests that follow one another over one dispatcher, and what the peer does with each. Every byte string is a
/// scenario; `Fuzz/Whole/README.md` has the language.
struct Scenario {
    /// The most requests of a scenario.
    static let maximumAsks = 8

    var asks: [Ask] = []

    /// Whether requests are in flight together, so that bytes of the peer may cross them on the wire.
    var isConcurrent: Bool { asks.contains(where: \.isJoined) }
}

/// One request, and the replies to it in the order in which the peer sees its exchanges.
struct Ask {
    /// The most exchanges that have a reply of their own.
    static let maximumReplies = 8

    var method: String
    /// What kind of request it is: words with their values, empty where a word needs none.
    var words: [String: String] = [:]
    var replies: [Reply] = []

    func has(_ word: String) -> Bool { words[word] != nil }

    /// A word's number, within bounds.
    func number(_ word: String, in range: ClosedRange<Int>) -> Int? {
        guard let value = words[word].flatMap({ Int($0) }) else { return nil }
        return min(max(value, range.lowerBound), range.upperBound)
    }

    /// Whether it starts with the next one, and not before it.
    var isJoined: Bool { has("joined") }
    /// Whether the peer falls silent in one of its replies.
    var isStalled: Bool { replies.contains { $0.steps.contains(.stall) } }
    var isIdempotent: Bool { !["POST", "PATCH"].contains(method) }
}

/// What the peer does with one exchange.
struct Reply {
    /// Whether it comes when the head is there, and does not wait for the body.
    var isEarly = false
    var steps: [Step] = []

    enum Step: Equatable {
        /// Bytes that go out together with those before.
        case bytes([UInt8])
        /// What was so far goes out before what follows.
        case split
        /// No more comes; what the client sends is still read.
        case close
        /// The connection is closed, unread bytes or not.
        case drop
        /// RST.
        case reset
        /// Silence, until the client goes or sends another request.
        case stall
        /// The caller cancels now.
        case cancel
    }

    /// All bytes, whatever happens in between.
    var bytes: [UInt8] {
        steps.flatMap { step -> [UInt8] in
            if case .bytes(let bytes) = step { return bytes }
            return []
        }
    }
}
