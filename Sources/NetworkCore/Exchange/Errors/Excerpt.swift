import FoundationEssentials

/// The start of a body, fit for a person's screen.
enum Excerpt {
    static let maximumBytes = 512

    /// The first 512 bytes as text: bytes that are not UTF-8 replaced, control characters as `\u{1B}`.
    static func of(_ body: Data) -> String {
        let text = shown(String(decoding: body.prefix(maximumBytes), as: UTF8.self))
        return body.count > maximumBytes ? text + "… (\(body.count) bytes)" : text
    }

    /// A text with its control characters and others that can't be seen as `\u{1B}`.
    static func shown(_ text: String) -> String {
        text.unicodeScalars.reduce(into: "") { shown, scalar in
            shown += Redaction.isInvisible(scalar) ? scalar.escaped(asASCII: true) : String(scalar)
        }
    }
}
