public import FoundationEssentials

extension NetworkError: SafelyPrinted {
    /// The code, the exchange and the message; safe for logs.
    public var description: String {
        var text = Redaction.visible(code.rawValue)
        if let exchange { text += " (\(exchange)\(phase.map { ", while \($0.rawValue)" } ?? ""))" }
        text += ": \(message)"
        if let underlying { text += " [\(underlying)]" }
        return text
    }

    /// The description with the decoder's own message and the start of the refused body, for developers. A body can
    /// contain secrets, so nothing in the library prints this text.
    public var unredactedDescription: String {
        let start = decoding?.bodyStart ?? response.map { Redaction.excerpt(of: $0.body) }
        var text = description
        if let decoding {
            text += "\nthe decoder says: \(decoding.reason)"
            if !decoding.codingPath.isEmpty { text += " at \(decoding.codingPath)" }
        }
        if let start, !start.isEmpty { text += "\nthe body starts with: \(start)" }
        return text
    }
}

extension NetworkError: LocalizedError {
    /// The same as ``description``.
    public var errorDescription: String? { description }
}

extension NetworkError {
    /// Returns the text of any error that is safe for logs: the description of a ``NetworkError``, which contains no
    /// secret, or else only the type, because any other error's description may contain one.
    package static func logText(of error: any Error) -> String {
        if error is CancellationError { return cancelled.description }
        return (error as? NetworkError)?.description ?? "\(type(of: error))"
    }
}

extension NetworkError.Underlying: SafelyPrinted {
    /// The domain, the code and the message.
    public var description: String { "\(Redaction.visible(domain)) \(code): \(message)" }
}

extension NetworkError.Exchange: SafelyPrinted {
    /// The method, URL, transport and time, and further attempts and redirects, if any.
    public var description: String {
        var text = "\(Redaction.visible(method)) \(url) over \(Redaction.visible(transport)), \(elapsed.shortText)"
        if attempts > 1 { text += ", attempt \(attempts)" }
        if redirectCount > 0 { text += ", after \(redirectCount) redirect\(redirectCount == 1 ? "" : "s")" }
        return text
    }
}

extension NetworkError.FailedResponse: SafelyPrinted {
    /// The status, the number of header fields and the size of the body.
    public var description: String {
        "\(status.code), \(headerFields.count) header fields, a body of \(body.count) bytes"
    }
}

extension NetworkError.DecodingFailure: SafelyPrinted {
    /// The requested type. The other properties may quote the body.
    public var description: String { "the body is not a \(Redaction.visible(type))" }
}
