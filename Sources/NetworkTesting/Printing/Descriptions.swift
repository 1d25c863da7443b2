public import NetworkCore

// Tests print into logs that many read, and often hold tokens that work: what a request is and how much, never what is
// in it. The properties have the rest.

extension SentRequest: SafelyPrinted {
    /// Method and URL, without users, passwords and queries.
    public var description: String { "\(method.rawValue) \(url)" }
}

extension ReceivedRequest: SafelyPrinted {
    /// Method and target without its query, how many header fields and how much of a body.
    public var description: String {
        let (line, size) = (requestLine, "\(headerLines.count) header fields, a body of \(body.count) bytes")
        guard line.count == 3, line[2].hasPrefix("HTTP/") else { return "what is no request of HTTP, \(size)" }
        return "\(Redaction.visible(method)) \(Redaction().url(target)), \(size)"
    }
}

extension StubAnswer: SafelyPrinted {
    /// What kind of answer it is.
    public var description: String {
        switch outcome {
        case .response(let head, let body):
            let bytes = body.chunks.reduce(0) { $0 + $1.count }
            return "\(head.status.code), \(head.headerFields.count) header fields, a body of \(bytes) bytes"
        case .failure(let error): return "a failure: \(type(of: error))"
        case .computed: return "an answer that is computed"
        }
    }
}

extension Script: SafelyPrinted {
    /// Its steps.
    public var description: String { "\(steps)" }
}

extension Script.Step: SafelyPrinted {
    /// What it does, and how much it sends.
    public var description: String {
        switch kind {
        case .read: "read"
        case .readHead: "readHead"
        case .readBody(let count, let size, let milliseconds): "readBody \(count) each \(size) pause \(milliseconds)"
        case .send(let bytes): "send \(bytes.count) bytes"
        case .sendSplit(let bytes, let size, let milliseconds):
            "sendSplit \(bytes.count) bytes each \(size) pause \(milliseconds)"
        case .flood(let bytes): "flood \(bytes.count) bytes"
        case .pause(let milliseconds): "pause \(milliseconds)"
        case .wait: "wait"
        case .open: "open"
        case .stall: "stall"
        case .close: "close"
        case .reset: "reset"
        case .forEachRequest(let steps): "forEachRequest \(steps)"
        }
    }
}

extension RepeatedBytes: SafelyPrinted {
    /// How much is repeated how often.
    public var description: String { "\(start.count) bytes and \(times) times \(piece.count) bytes" }
}
