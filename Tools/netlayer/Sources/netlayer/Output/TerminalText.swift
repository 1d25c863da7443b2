/// Text from outside as a terminal may show it. Control characters are made visible, so that no server can move the
/// cursor, change colors or send input on behalf of the user. Line feeds and tabs stay.
enum TerminalText {
    /// Returns a text for one line: line feeds and tabs are made visible, too.
    static func line(_ text: String) -> String {
        text.unicodeScalars.map { $0.isInvisible ? $0.escaped(asASCII: true) : String($0) }.joined()
    }

    static func visible(_ text: String) -> String {
        text.unicodeScalars.reduce(into: "") { shown, scalar in
            let stays = scalar == "\n" || scalar == "\t" || !scalar.isInvisible
            shown += stays ? String(scalar) : scalar.escaped(asASCII: true)
        }
    }
}

/// Makes control characters visible in a body that arrives in chunks.
struct TerminalFilter {
    /// The first bytes of an incomplete UTF-8 character.
    private var unfinished: [UInt8] = []

    /// Returns the text that can be shown after the next chunk.
    mutating func visible(_ chunk: some Sequence<UInt8>) -> [UInt8] {
        var bytes = unfinished + chunk
        let tail = bytes.suffix(3).lastIndex { $0 >= 0xC0 }
        unfinished = []
        if let tail, bytes.count - tail < Self.length(of: bytes[tail]) {
            unfinished = Array(bytes[tail...])
            bytes.removeLast(unfinished.count)
        }
        return Array(TerminalText.visible(String(decoding: bytes, as: UTF8.self)).utf8)
    }

    /// Returns the rest at the end of the body: a character that was never completed.
    mutating func end() -> [UInt8] {
        defer { unfinished = [] }
        return Array(TerminalText.visible(String(decoding: unfinished, as: UTF8.self)).utf8)
    }

    /// Returns the number of bytes of a UTF-8 character, by its first byte.
    private static func length(of first: UInt8) -> Int { first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2 }
}

/// The name of a variable or file with a secret, as an error may show it. The secret itself may be in its place.
enum ShownName {
    /// Returns the name of an environment variable in quotes, or only the length of text that does not look like one.
    static func variable(_ name: String) -> String {
        name.utf8.first.map(isDigit) == false && isPlain(name, "_") ? "'\(name)'" : length(of: name)
    }

    /// Returns a path in quotes if each of its parts looks like a name, or else only its length.
    static func path(_ path: String) -> String {
        path.utf8.isEmpty || !isPlain(path, "_-./") ? length(of: path) : "'\(path)'"
    }

    /// Whether a name consists of short words. Generated tokens have long words with digits.
    private static func isPlain(_ name: String, _ separators: String) -> Bool {
        let words = name.utf8.split { separators.utf8.contains($0) }
        return name.utf8.count(where: isDigit) <= maximumDigits
            && words.allSatisfy { $0.count <= maximumWord && $0.allSatisfy { isDigit($0) || isLetter($0) } }
    }

    private static let maximumWord = 16
    private static let maximumDigits = 2

    private static func length(of text: String) -> String { "(\(text.utf8.count) bytes)" }

    private static func isDigit(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) }

    private static func isLetter(_ byte: UInt8) -> Bool { (0x61...0x7A).contains(byte | 0x20) }
}
