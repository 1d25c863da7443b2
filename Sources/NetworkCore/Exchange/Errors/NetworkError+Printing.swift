public import FoundationEssentials

extension NetworkError: SafelyPrinted {
    /// Code, exchange, sentence; safe for logs.
    public var description: String {
        var text = Redaction.visible(code.rawValue)
        if let exchange { text += " (\(exchange)\(phase.map { ", while \($0.rawValue)" } ?? ""))" }
        text += ": \(message)"
        if let underlying { text += " [\(underlying)]" }
        return text
    }

    /// The description, the decoder's own words, and the start of the body that was refused. For a developer's eyes:
    /// a body
    /// can hold secrets, and nothing prints this by itself.
    public var unredactedDescription: String {
        let start = decoding?.bodyStart ?? response.map { Excerpt.of($0.body) }
        var text = description
        if let decoding {
            text +=
                "\nthe decoder says: \(decoding.reason)\(decoding.codingPath.isEmpty ? "" : " at \(decoding.codingPath)")"
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
    /// What a log may have of any error. That of another step may hold anything in its description; ours holds no
    /// secret.
    package static func logText(of error: any Error) -> String {
        (error as? NetworkError)?.description ?? "\(type(of: error))"
    }
}

extension NetworkError.Underlying: SafelyPrinted {
    /// Domain, number and words.
    public var description: String { "\(Redaction.visible(domain)) \(code): \(message)" }
}

extension NetworkError.Exchange: SafelyPrinted {
    /// Method, URL, transport and time; attempts and redirects where there were some.
    public var description: String {
        var text = "\(Redaction.visible(method)) \(url) over \(Redaction.visible(transport)), \(elapsed.shortText)"
        if attempts > 1 { text += ", attempt \(attempts)" }
        if redirects > 0 { text += ", after \(redirects) redirect\(redirects == 1 ? "" : "s")" }
        return text
    }
}

extension NetworkError.FailedResponse: SafelyPrinted {
    /// The status, and how much there is of fields and body.
    public var description: String {
        "\(status.code), \(headerFields.count) header fields, a body of \(body.count) bytes"
    }
}

extension NetworkError.DecodingFailure: SafelyPrinted {
    /// The type that was asked for. The rest may quote the body.
    public var description: String { "the body is not a \(Redaction.visible(type))" }
}
