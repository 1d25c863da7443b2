import NetworkLayer

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
