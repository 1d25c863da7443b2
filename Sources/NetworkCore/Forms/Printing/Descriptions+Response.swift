import HTTPTypes

// Descriptions of a response and its parts show the status and sizes, never fields, texts and bytes.

extension NetworkResponse: SafelyPrinted {
    /// The status, the number of header fields, and the body's type.
    public var description: String { "\(status.code), \(headerFields.count) header fields, a body of \(Body.self)" }
}

extension TransportResponse: SafelyPrinted {
    /// The status, the number of header fields, and the body's description.
    public var description: String { "\(status.code), \(head.headerFields.count) header fields, \(body)" }
}

extension TransportResponse.Body: SafelyPrinted {
    /// A fixed text.
    public var description: String { "a response's body" }
}

extension ReadableHead: SafelyPrinted {
    var description: String { "\(status.code)" }
}

extension RedirectPolicy.Redirect: SafelyPrinted {
    /// The status, the method and both URLs, without their queries.
    public var description: String { "\(status.code) from \(from) to \(method.rawValue) \(to)" }
}

extension RedirectPolicy.Proposal: SafelyPrinted {
    /// The redirect, and the number of redirects before it.
    public var description: String { "\(redirect), after \(followed) others" }
}

extension ProblemDetails: SafelyPrinted {
    /// The status that the body states. The rest is the server's text.
    public var description: String { "a problem" + (status.map { " of status \($0)" } ?? "") }

    /// The type, title, detail and instance in the server's own words, with control characters made visible. For
    /// developers only.
    public var unredactedDescription: String {
        let texts = [type, title, detail, instance].compactMap(\.self).map { Redaction.visible($0) }
        return "\(description): \(texts.joined(separator: ", "))"
    }
}

extension ServerSentEvents.Event: SafelyPrinted {
    /// The length of the data.
    public var description: String { "an event of \(data.utf8.count) byte\(data.utf8.count == 1 ? "" : "s")" }
}

extension ServerSentEvents.Parser: SafelyPrinted {
    /// Whether the parser has met a problem that ends the stream.
    public var description: String { problem.map { "a parser that ended: \($0)" } ?? "a parser of events" }
}

extension LineBuffer: SafelyPrinted {
    /// A fixed text.
    var description: String { "a buffer of lines" }
}

// Readers hold bytes that have arrived and were not read yet.

extension TransportResponse.Body.AsyncIterator: SafelyPrinted {
    /// A fixed text.
    public var description: String { "a reader of a response's body" }
}

extension ResponseLines.AsyncIterator: SafelyPrinted {
    /// A fixed text.
    public var description: String { "a reader of lines" }
}

extension JSONLines.AsyncIterator: SafelyPrinted {
    /// A fixed text.
    public var description: String { "a reader of lines of JSON" }
}

extension ServerSentEvents.AsyncIterator: SafelyPrinted {
    /// A fixed text.
    public var description: String { "a reader of events" }
}
