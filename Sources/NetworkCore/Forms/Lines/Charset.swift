import HTTPTypes

extension ResponseLines {
    /// The treatment of bytes that are not text in the charset of a response.
    @nonexhaustive
    public enum InvalidText: Sendable, Hashable {
        /// Fails with ``NetworkError/Code/undecodableText``.
        case refused
        /// Replaces them with U+FFFD.
        case replaced
    }
}

enum Charset: String, Sendable, CaseIterable {
    case utf8 = "UTF-8"
    case latin1 = "ISO-8859-1"
    case ascii = "US-ASCII"

    private static let names: [String: Charset] = [
        "utf-8": .utf8, "utf8": .utf8, "iso-8859-1": .latin1, "iso_8859-1": .latin1, "latin1": .latin1,
        "us-ascii": .ascii, "ascii": .ascii,
    ]

    /// Reads the charset from a response's Content-Type. Default: UTF-8.
    init(of head: HTTPResponse) throws {
        guard let name = head.headerFields[.contentType].flatMap({ MediaType($0) })?.parameters["charset"] else {
            self = .utf8
            return
        }
        guard let charset = Self.names[name.lowercased()] else {
            let known = Self.allCases.map(\.rawValue).joined(separator: ", ")
            throw NetworkError(
                .undecodableText,
                "the charset '\(MediaType.shown(name))' is not supported; \(known) are",
                phase: .decoding
            )
        }
        self = charset
    }

    /// Returns the text; a byte order mark before UTF-8 is not part of it.
    /// - Parameter place: The name of the bytes in an error: `the body`, `line 3`.
    func text(
        of bytes: some Collection<UInt8>, invalid: ResponseLines.InvalidText, _ place: @autoclosure () -> String
    ) throws -> String {
        guard let text = text(of: self == .utf8 ? bytes.withoutMark : bytes[...], invalid: invalid) else {
            throw NetworkError(.undecodableText, "\(place()) is not \(rawValue)", phase: .decoding)
        }
        return text
    }

    private func text(of piece: some Collection<UInt8>, invalid: ResponseLines.InvalidText) -> String? {
        switch (self, invalid) {
        case (.latin1, _):
            var utf8: [UInt8] = []
            utf8.reserveCapacity(2 * piece.count)
            for byte in piece {
                guard byte >= 0x80 else {
                    utf8.append(byte)
                    continue
                }
                utf8.append(0xC0 | byte >> 6)
                utf8.append(0x80 | byte & 0x3F)
            }
            return String(decoding: utf8, as: UTF8.self)
        case (.ascii, .replaced):
            let utf8 = piece.reduce(into: [UInt8]()) { utf8, byte in
                if byte < 0x80 { utf8.append(byte) } else { utf8 += [0xEF, 0xBF, 0xBD] }
            }
            return String(decoding: utf8, as: UTF8.self)
        case (.utf8, .replaced): return String(decoding: piece, as: UTF8.self)
        case (.utf8, .refused): return String(validating: piece, as: UTF8.self)
        case (.ascii, .refused):
            return piece.allSatisfy { $0 < 0x80 } ? String(decoding: piece, as: UTF8.self) : nil
        }
    }
}
