import HTTPTypes

/// What to do with bytes that are not text in the charset of a response.
public enum InvalidText: Sendable, Hashable {
    /// Fail, with ``NetworkError/Code/undecodableText``.
    case refused
    /// Put U+FFFD in their place.
    case replaced
}

/// The charset of a text.
enum Charset: String, Sendable, CaseIterable {
    case utf8 = "UTF-8"
    case latin1 = "ISO-8859-1"
    case ascii = "US-ASCII"

    private static let names: [String: Charset] = [
        "utf-8": .utf8, "utf8": .utf8, "iso-8859-1": .latin1, "iso_8859-1": .latin1, "latin1": .latin1,
        "us-ascii": .ascii, "ascii": .ascii,
    ]

    /// The charset that a response's Content-Type names; UTF-8 if it names none.
    /// - Throws: ``NetworkError/Code/undecodableText`` for a charset that is not known.
    init(of head: HTTPResponse) throws {
        guard let name = head.headerFields[.contentType].flatMap({ MediaType($0) })?.parameters["charset"] else {
            self = .utf8
            return
        }
        guard let charset = Self.names[name.lowercased()] else {
            let shown = name.unicodeScalars.prefix(32).map { $0.escaped(asASCII: true) }.joined()
            let known = Self.allCases.map(\.rawValue).joined(separator: ", ")
            throw NetworkError(
                .undecodableText,
                "the charset '\(shown)' is not known; \(known) are",
                phase: .decoding
            )
        }
        self = charset
    }

    /// The text. A byte order mark before UTF-8 is not part of it.
    /// - Parameter place: What the bytes are, for the error: `the body`, `line 3`.
    func text(of bytes: some Collection<UInt8>, invalid: InvalidText, _ place: @autoclosure () -> String) throws
        -> String
    {
        switch (self, invalid) {
        case (.latin1, _): return String(String.UnicodeScalarView(bytes.map { Unicode.Scalar($0) }))
        case (.ascii, .replaced):
            return String(String.UnicodeScalarView(bytes.map { $0 < 0x80 ? Unicode.Scalar($0) : "\u{FFFD}" }))
        case (.utf8, .replaced): return Self.withoutMark(String(decoding: bytes, as: UTF8.self))
        case (.utf8, .refused):
            if let text = String(validating: bytes, as: UTF8.self) { return Self.withoutMark(text) }
        case (.ascii, .refused):
            if bytes.allSatisfy({ $0 < 0x80 }) { return String(decoding: bytes, as: UTF8.self) }
        }
        throw NetworkError(.undecodableText, "\(place()) is not \(rawValue)", phase: .decoding)
    }

    private static func withoutMark(_ text: String) -> String {
        text.unicodeScalars.first == "\u{FEFF}" ? String(text.unicodeScalars.dropFirst()) : text
    }
}
