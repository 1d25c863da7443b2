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

    /// Returns the text, converted piece by piece. A byte order mark before UTF-8 is not part of it.
    func text(
        of bytes: some RandomAccessCollection<UInt8>,
        invalid: ResponseLines.InvalidText,
        _ place: @autoclosure () -> String,
        pieceBytes: Int = Self.pieceBytes,
        check: () throws -> Void
    ) throws -> String {
        var rest = self == .utf8 ? bytes.withoutMark : bytes[...]
        var text = ""
        text.reserveCapacity(rest.count)
        while !rest.isEmpty {
            try check()
            var piece = Array(rest.prefix(pieceBytes))
            // The last piece ends where the text does.
            if piece.count < rest.count, self == .utf8 { piece.removeSubrange(Self.border(in: piece)...) }
            guard let part = self.text(of: piece, invalid: invalid) else {
                throw NetworkError(.undecodableText, "\(place()) is not \(rawValue)", phase: .decoding)
            }
            text += part
            rest = rest.dropFirst(piece.count)
        }
        return text
    }

    static let pieceBytes = 65_536

    /// Returns the index where UTF-8 may be divided: before a byte that begins a character, or after three continuation
    /// bytes, since no character has more.
    private static func border(in piece: [UInt8]) -> Int {
        let last = piece.indices.suffix(4).last { piece[$0] & 0xC0 != 0x80 }
        return last ?? piece.count
    }

    /// Returns a piece's text; `nil` for bytes that are refused.
    private func text(of piece: [UInt8], invalid: ResponseLines.InvalidText) -> String? {
        switch (self, invalid) {
        case (.latin1, _):
            let utf8 = piece.reduce(into: [UInt8]()) { utf8, byte in
                if byte < 0x80 { utf8.append(byte) } else { utf8 += [0xC0 | byte >> 6, 0x80 | byte & 0x3F] }
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
