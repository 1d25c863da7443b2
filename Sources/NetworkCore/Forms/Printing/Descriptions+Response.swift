import HTTPTypes

// What a response and its parts print: the status and how much, never fields, texts and bytes.

extension NetworkResponse: SafelyPrinted {
    /// The status, how many header fields, and the body's type.
    public var description: String { "\(status.code), \(headerFields.count) header fields, a body of \(Body.self)" }
}

extension TransportResponse: SafelyPrinted {
    /// The status.
    public var description: String { "\(status.code), \(head.headerFields.count) header fields, \(body)" }
}

extension TransportResponse.Body: SafelyPrinted {
    /// That it is one.
    public var description: String { "a response's body" }
}

extension ReadableHead: SafelyPrinted {
    var description: String { "\(status.code)" }
}

extension RedirectPolicy.Redirect: SafelyPrinted {
    /// Status, method and both URLs, without their queries.
    public var description: String { "\(status.code) from \(from) to \(method.rawValue) \(to)" }
}

extension RedirectPolicy.Proposal: SafelyPrinted {
    /// The redirect, and how many came before it.
    public var description: String { "\(redirect), after \(followed) others" }
}

extension ProblemDetails: SafelyPrinted {
    /// The status that the body states. The rest is the server's text.
    public var description: String { "a problem" + (status.map { " of status \($0)" } ?? "") }

    /// Type, title and detail in the server's own words, control characters made visible, for a developer's eyes.
    public var unredactedDescription: String {
        let texts = [type, title, detail, instance].compactMap(\.self).map { Redaction.visible($0) }
        return "\(description): \(texts.joined(separator: ", "))"
    }
}

extension ServerSentEvents.Event: SafelyPrinted {
    /// How much data it has.
    public var description: String { "an event of \(data.utf8.count) bytes" }
}

extension ServerSentEvents.Parser: SafelyPrinted {
    /// Whether it has met something that ends the stream.
    public var description: String { problem.map { "a parser that ended: \($0)" } ?? "a parser of events" }
}

extension LineBuffer: SafelyPrinted {
    /// That it is one.
    package var description: String { "a buffer of lines" }
}

// Readers hold what has arrived and was not read yet.

extension TransportResponse.Body.AsyncIterator: SafelyPrinted {
    /// That it is one.
    public var description: String { "a reader of a response's body" }
}

extension ResponseLines.AsyncIterator: SafelyPrinted {
    /// That it is one.
    public var description: String { "a reader of lines" }
}

extension JSONLines.AsyncIterator: SafelyPrinted {
    /// That it is one.
    public var description: String { "a reader of lines of JSON" }
}

extension ServerSentEvents.AsyncIterator: SafelyPrinted {
    /// That it is one.
    public var description: String { "a reader of events" }
}
