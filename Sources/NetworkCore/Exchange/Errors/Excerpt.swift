import FoundationEssentials

/// The start of a body as text that is safe to display.
enum Excerpt {
    static let maximumBytes = 512

    /// Returns the first 512 bytes as text. Bytes that are not UTF-8 are replaced, and control characters written as
    /// `\u{1B}`. A longer body's text ends with its number of bytes.
    static func of(_ body: Data) -> String {
        let text = shown(String(decoding: body.prefix(maximumBytes), as: UTF8.self))
        return body.count > maximumBytes ? text + "… (\(body.count) bytes)" : text
    }

    /// Returns the first 512 bytes of a text that may hold what a server sent, as for a body.
    static func of(_ text: String) -> String {
        text.utf8.count > maximumBytes ? of(Data(text.utf8)) : shown(text)
    }

    /// Returns a text with its control characters and other invisible characters written as `\u{1B}`.
    static func shown(_ text: String) -> String {
        text.unicodeScalars.reduce(into: "") { shown, scalar in
            shown += scalar.isInvisible ? scalar.escaped(asASCII: true) : String(scalar)
        }
    }
}
