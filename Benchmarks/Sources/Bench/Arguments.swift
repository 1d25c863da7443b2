/// The command line of a contender; Benchmarks/control/arguments.h describes it.
public struct Arguments: Sendable {
    /// The work for each request.
    public enum Mode: String, Sendable {
        /// The modes in the list there.
        case get, stream, post, upload, json, burst, idle
    }

    /// The mode.
    public let mode: Mode
    /// The number of requests in flight at once.
    public let inFlight: Int
    /// The number of requests in total.
    public let count: Int
    /// The URL of the requests.
    public let url: String
    /// The length in bytes that each body must have, or that is uploaded; 0 for any length.
    public private(set) var bytes = 0
    /// The PEM file of the authority to trust; `nil` for the system's authorities.
    public private(set) var authority: String?
    /// Whether to use HTTP/2.
    public private(set) var usesHTTP2 = false
    /// Whether tasks run on the client's own thread, if it has one.
    public private(set) var runsOnLoop = false
    /// Whether that thread lets other tasks finish first.
    public private(set) var runsInBatches = false
    /// The names of the steps that the pipeline has.
    public private(set) var steps: [String] = []
    /// The number of requests to `pollURL` that stay in flight without a response.
    public private(set) var polls = 0
    /// A URL that never responds.
    public private(set) var pollURL = ""

    /// Reads the arguments of a command line.
    /// - Throws: An error that names the invalid argument.
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
            case "steps": steps = value.split(separator: "+").map(String.init)
            case "polls": polls = try Self.number(value)
            case "poll": pollURL = value
            // All contenders except the control request compressed bodies anyway.
            case "gzip": break
            default: throw Misunderstood(words: [word])
            }
        }
    }

    private static func number(_ text: String) throws -> Int {
        guard let number = Int(text), number >= 0 else { throw Misunderstood(words: [text]) }
        return number
    }

    /// The number of connections that a pool must allow.
    public var connections: Int { inFlight + polls }
}

/// An invalid command line.
struct Misunderstood: Error, CustomStringConvertible {
    let words: [String]
    var description: String {
        "invalid arguments: \(words.joined(separator: " "))\nusage: CLIENT MODE IN-FLIGHT COUNT URL [NAME=VALUE ...]"
    }
}
