public import NetworkCore

// Test logs have many readers, and requests often hold working tokens. Descriptions therefore give the kind and the
// size of a value, never its contents; the properties have those.

extension SentRequest: SafelyPrinted {
    /// The method and URL, without users, passwords and queries.
    public var description: String { "\(method.rawValue) \(url)" }
}

extension ReceivedRequest: SafelyPrinted {
    /// The method and the target without its query, the number of header fields and the size of the body.
    public var description: String {
        let (line, size) = (requestLine, "\(headerLines.count) header fields, a body of \(body.count) bytes")
        guard line.count == 3, line[2].hasPrefix("HTTP/") else { return "not an HTTP request, \(size)" }
        return "\(Redaction.visible(method)) \(Redaction().url(target)), \(size)"
    }
}

extension StubResponse: SafelyPrinted {
    /// The kind of response, and its size.
    public var description: String {
        switch outcome {
        case .response(let head, let body):
            let bytes = body.chunks.reduce(0) { $0 + $1.count }
            return "\(head.status.code), \(head.headerFields.count) header fields, a body of \(bytes) bytes"
        case .failure(let error): return "a failure: \(type(of: error))"
        case .computed: return "a computed response"
        }
    }
}

extension Script: SafelyPrinted {
    /// The steps.
    public var description: String { "\(steps)" }
}

extension Script.Step: SafelyPrinted {
    /// The step and the number of bytes it sends.
    public var description: String {
        switch kind {
        case .read: "read"
        case .readHead: "readHead"
        case .readBody(let count, let size, let pause): "readBody \(count) each \(size) pause \(pause)"
        case .send(let bytes): "send \(bytes.count) bytes"
        case .sendSplit(let bytes, let size, let pause):
            "sendSplit \(bytes.count) bytes each \(size) pause \(pause)"
        case .flood(let bytes): "flood \(bytes.count) bytes"
        case .pause(let pause): "pause \(pause)"
        case .wait: "wait"
        case .open: "open"
        case .stall: "stall"
        case .close: "close"
        case .reset: "reset"
        case .forEachRequest(let steps): "forEachRequest \(steps)"
        case .serve: "serve"
        }
    }
}
