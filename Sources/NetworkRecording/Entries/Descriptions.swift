public import NetworkCore

// Recordings are printed in test logs. Descriptions give the kind and the size of a value, never its contents.

extension Recording.Entry: SafelyPrinted {
    /// The request and the status or the failure.
    public var description: String {
        let outcome = response.map { "\($0.status)" } ?? "no response"
        return "\(request): \(outcome)" + (failure.map { ", \($0)" } ?? "") + (isIncomplete ? ", incomplete" : "")
    }
}

extension Recording.Request: SafelyPrinted {
    /// The method and the URL without users, passwords and queries.
    public var description: String { "\(Redaction.visible(method.rawValue)) \(Redaction().url(url))" }
}

extension Recording.Response: SafelyPrinted {
    /// The status, the number of header fields and the size of the body.
    public var description: String { "\(status), \(headerFields.count) header fields, \(body)" }
}

extension Recording.Body: SafelyPrinted {
    /// The size of the body.
    public var description: String {
        "a body of \(bytes.count) bytes" + (omitted > 0 ? " and \(omitted) that were not recorded" : "")
    }
}

extension Recording.Failure: SafelyPrinted {
    /// The code.
    public var description: String { Redaction.visible(code.rawValue) }
}
