import CLibrary

/// The rules that every scenario must follow, by name. NETWORKLAYER_FUZZ_SKIP lists rules that are not checked, to get
/// past a known fault.
enum Oracle: String, CaseIterable {
    /// Each request has an outcome in time.
    case outcome
    /// A request does not use up its timeout after the peer has finished.
    case prompt
    /// The ordinary request at the end gets the right response.
    case good
    /// The bytes of that request on the wire are always the same.
    case wire
    /// A method that is not idempotent is not repeated, unless the peer requests it.
    case once
    /// Data of one request does not appear in the bytes of another, and secrets of one origin do not appear in requests
    /// to the other.
    case secret
    /// A response belongs to its request.
    case response
    /// No log line and no error shows a secret.
    case printed
    /// The peer can send everything that is due, and its connections end with their dispatcher.
    case connections
    case descriptors
    case threads

    static let skipped = ProcessState.names("NETWORKLAYER_FUZZ_SKIP")

    var isAsked: Bool { !Self.skipped.contains(rawValue) }
}

/// A scenario that broke a rule. libFuzzer keeps its input.
struct Finding {
    let oracle: Oracle
    let text: String

    func report(_ seen: [Seen]) -> Never {
        ProcessState.printError("\n==== finding '\(oracle.rawValue)': \(text)\n" + Self.text(of: seen))
        abort()
    }

    static func text(of seen: [Seen]) -> String {
        var report = ""
        for request in seen {
            report += "  seen over \(request.connection): \(Text.line(of: request.head.prefix(2_000)))\n"
            if !request.body.isEmpty { report += "        body \(Text.line(of: request.body.prefix(200)))\n" }
            report += "        replied \(Text.line(of: request.replied.prefix(2_000)))\n"
        }
        return report
    }
}
