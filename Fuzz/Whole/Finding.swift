import CLibrary

/// What must hold of every scenario, by name. NETWORKLAYER_FUZZ_SKIP has those that are not asked, to get past a known
/// fault.
enum Oracle: String, CaseIterable {
    /// Each request has its outcome within its time.
    case outcome
    /// A request does not use up its time while the peer is through with it.
    case prompt
    /// The good request at the end is answered right.
    case good
    /// Its bytes on the wire are always the same.
    case wire
    /// A method that is not idempotent is not repeated, but where the peer asked for it.
    case once
    /// What belongs to one request is not in the bytes of another, and what belongs to one origin not in those for the
    /// other.
    case secret
    /// A response is that of its request.
    case response
    /// No log line and no error shows a secret.
    case printed
    /// The peer can send what is due, and its connections end with their dispatcher.
    case connections
    case descriptors
    case threads

    static let skipped = ProcessState.names("NETWORKLAYER_FUZZ_SKIP")

    var isAsked: Bool { !Self.skipped.contains(rawValue) }
}

/// A scenario that broke a rule: libFuzzer keeps its input.
struct Finding {
    let oracle: Oracle
    let text: String

    func report(_ seen: [Seen]) -> Never {
        var report = "\n==== finding '\(oracle.rawValue)': \(text)\n"
        for request in seen {
            report += "  seen over \(request.connection): \(Text.line(of: request.head.prefix(2_000)))\n"
            if !request.body.isEmpty { report += "        body \(Text.line(of: request.body.prefix(200)))\n" }
            report += "        replied \(Text.line(of: request.replied.prefix(2_000)))\n"
        }
        ProcessState.printError(report)
        abort()
    }
}
