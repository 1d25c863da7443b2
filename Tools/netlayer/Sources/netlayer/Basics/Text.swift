/// Text compared by its bytes: for Swift, a quote before a combining mark is no quote.
extension StringProtocol {
    func hasBytePrefix(_ prefix: String) -> Bool { utf8.starts(with: prefix.utf8) }

    func hasSameBytes(as other: some StringProtocol) -> Bool { utf8.elementsEqual(other.utf8) }

    /// Whether the text contains a byte, which must be ASCII.
    func contains(byte: UInt8) -> Bool { utf8.contains(byte) }

    /// Returns what stands before the first such ASCII character, and what behind it; `nil` without one.
    func halves(at byte: UInt8) -> (name: String, value: String)? {
        guard let place = utf8.firstIndex(of: byte) else { return nil }
        return (String(self[..<place]), String(self[utf8.index(after: place)...]))
    }

    var splitAtColon: (name: String, value: String) { halves(at: UInt8(ascii: ":")) ?? (String(self), "") }

    /// Returns the text with texts in place of ASCII characters.
    func replacing(ascii texts: [UInt8: String]) -> String {
        String(decoding: utf8.flatMap { texts[$0].map { Array($0.utf8) } ?? [$0] }, as: UTF8.self)
    }

    /// The text with A to Z in lower case and all other characters unchanged.
    var lowercasedASCII: String {
        String(decoding: utf8.map { (0x41...0x5A).contains($0) ? $0 | 0x20 : $0 }, as: UTF8.self)
    }
}

extension Unicode.Scalar {
    /// Whether a terminal would act on the character instead of showing it: controls, line separators, direction marks.
    var isInvisible: Bool {
        switch value {
        case 0..<0x20, 0x7F...0x9F, 0x061C, 0x200E, 0x200F, 0x2028...0x202E, 0x2066...0x2069, 0xFEFF,
            0xE0000...0xE007F:
            true
        default: false
        }
    }
}

extension Sequence<UInt8> {
    /// The bytes as hexadecimal digits, two for each, in lower case.
    var hexadecimal: String {
        reduce(into: "") { $0 += ($1 < 16 ? "0" : "") + String($1, radix: 16) }
    }
}

extension Duration {
    var inSeconds: Double { self / .seconds(1) }

    /// The duration with a fitting unit: `340 µs`, `12.3 ms`, `4.56 s`.
    var shortText: String {
        let seconds = inSeconds
        switch abs(seconds) {
        case ..<0.001: return "\(Int((seconds * 1_000_000).rounded())) µs"
        case ..<1: return "\((seconds * 10_000).rounded() / 10) ms"
        default: return "\((seconds * 100).rounded() / 100) s"
        }
    }
}

/// Text for a POSIX shell.
enum ShellText {
    /// Returns one word: unchanged if it has no character with a meaning to a shell, else in single quotes, or in
    /// `$'…'` with escapes where a terminal would act on a character.
    static func word(_ text: String) -> String {
        if text.unicodeScalars.contains(where: \.isInvisible) {
            return "$'\(text.unicodeScalars.map(escaped).joined())'"
        }
        let isPlain =
            !text.isEmpty
            && text.utf8.allSatisfy { byte in
                (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte)
                    || "-_./:=,+@%".utf8.contains(byte)
            }
        if isPlain { return text }
        return "'" + text.unicodeScalars.map { $0 == "'" ? "'\\''" : String($0) }.joined() + "'"
    }

    private static func escaped(_ scalar: Unicode.Scalar) -> String {
        switch scalar {
        case "'", "\\": "\\\(scalar)"
        case _ where scalar.isInvisible: String(scalar).utf8.map { "\\x" + [$0].hexadecimal }.joined()
        default: String(scalar)
        }
    }
}
