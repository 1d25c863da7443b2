import FoundationEssentials

/// Text and bytes in the syntax of a POSIX shell.
package enum ShellText {
    /// Returns one word: unchanged if it has no character with a meaning to a shell, else in single quotes. Control
    /// characters other than line feeds are made by a `printf`, so that none reaches the terminal that shows the word.
    package static func word(_ text: String) -> String {
        if text.unicodeScalars.contains(where: { $0.isInvisible && $0 != "\n" }) {
            // A shell drops the line feeds at the end of a command's output.
            let lineFeeds = text.utf8.reversed().prefix { $0 == 0x0A }.count
            let command = printf(Data(text.utf8.dropLast(lineFeeds)))
            return "\"$(\(command))\"" + (lineFeeds > 0 ? word(String(repeating: "\n", count: lineFeeds)) : "")
        }
        let isPlain = !text.isEmpty && text.utf8.allSatisfy { $0.isLetterOrDigit || "-_./:,+@%".utf8.contains($0) }
        if isPlain { return text }
        // By bytes: a quote followed by a combining mark is one Character, which does not compare equal to a quote.
        let pieces = text.utf8.split(separator: UInt8(ascii: "'"), omittingEmptySubsequences: false)
        return "'" + String(decoding: Array(pieces.joined(separator: "'\\''".utf8)), as: UTF8.self) + "'"
    }

    /// Returns the text of bytes that fit in a word and that a terminal takes as typed: UTF-8 without control
    /// characters other than line feeds.
    static func typeable(_ bytes: Data) -> String? {
        guard bytes.allSatisfy({ !$0.isControl || $0 == 0x0A }) else { return nil }
        return String(validating: bytes, as: UTF8.self)
    }

    /// Returns a `printf` in visible ASCII that prints any bytes.
    static func printf(_ bytes: Data) -> String {
        var format: [UInt8] = []
        format.reserveCapacity(bytes.count * 2)
        for (index, byte) in bytes.enumerated() {
            switch byte {
            case UInt8(ascii: "%"): format += "%%".utf8
            case UInt8(ascii: "-") where index == 0, UInt8(ascii: "'"), UInt8(ascii: "\\"), 0..<0x20, 0x7F...0xFF:
                format += [UInt8(ascii: "\\"), 0x30 + byte >> 6, 0x30 + byte >> 3 & 7, 0x30 + byte & 7]
            default: format.append(byte)
            }
        }
        return "printf '" + String(decoding: format, as: UTF8.self) + "'"
    }
}
