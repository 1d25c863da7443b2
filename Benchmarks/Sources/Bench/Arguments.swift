/// What a contender is asked to do; Sources/control/arguments.h has the words.
public struct Arguments: Sendable {
    /// What happens to each body.
    public enum Mode: String, Sendable {
        /// See the list there.
        case get, stream, post, upload, json, burst, idle
    }

    /// What to do.
    public let mode: Mode
    /// How many requests are under way at once.
    public let inFlight: Int
    /// How many there are in all.
    public let count: Int
    /// What is asked for.
    public let url: String
    /// The length that each body must have, or that is uploaded.
    public private(set) var bytes = 0
    /// The authority to trust, a PEM file.
    public private(set) var authority: String?
    /// Whether HTTP/2 is wanted.
    public private(set) var usesHTTP2 = false
    /// Whether tasks run on the client's own thread, where it has one to offer.
    public private(set) var runsOnLoop = false
    /// Whether that thread lets others finish first.
    public private(set) var runsInBatches = false
    /// So many requests to `pollURL` stay in flight, unanswered.
    public private(set) var polls = 0
    /// What never answers.
    public private(set) var pollURL = ""

    /// Reads the words of a command line.
    /// - Throws: An error that says what was not understood.
    public init(_ words: [String]) throws {
        guard words.count >= 5, let mode = Mode(rawValue: words[1]), let inFlight = Int(words[2]), inFlight > 0,
            let count = Int(words[3]), count > 0
        else { throw Misunderstood(words: words) }
        self.mode = mode
        self.inFlight = inFlight
        self.count = mode == .idle ? inFlight : count
        url = words[4]
        for word in words[5...] {
            guard let equals = word.firstIndex(of: "=") else { throw Misunderstood(words: [word]) }
            let value = String(word[word.index(after: equals)...])
            switch word[..<equals] {
            case "bytes": bytes = try Self.number(value)
            case "ca": authority = value
            case "http": usesHTTP2 = value == "2"
            case "thread": runsOnLoop = value == "loop"
            case "schedule": runsInBatches = value == "batch"
            case "polls": polls = try Self.number(value)
            case "poll": pollURL = value
            // Everybody but the control asks for compressed bodies anyway.
            case "gzip": break
            default: throw Misunderstood(words: [word])
            }
        }
    }

    private static func number(_ text: String) throws -> Int {
        guard let number = Int(text), number >= 0 else { throw Misunderstood(words: [text]) }
        return number
    }

    /// How many connections a pool has to allow.
    public var connections: Int { inFlight + polls }
}

/// A command line that makes no sense.
struct Misunderstood: Error, CustomStringConvertible {
    let words: [String]
    var description: String {
        "not understood: \(words.joined(separator: " "))\nusage: CLIENT MODE IN-FLIGHT COUNT URL [NAME=VALUE ...]"
    }
}
