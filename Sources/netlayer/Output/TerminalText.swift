import NetworkLayer

/// Text from outside as a terminal may show it: control characters made visible, so that no server moves the cursor,
/// changes colours or answers for the user. Line feeds and tabs stay.
enum TerminalText {
    static func visible(_ text: String) -> String {
        text.unicodeScalars.reduce(into: "") { shown, scalar in
            let stays = scalar == "\n" || scalar == "\t" || !Redaction.isInvisible(scalar)
            shown += stays ? String(scalar) : scalar.escaped(asASCII: true)
        }
    }
}

/// The same for a body that comes in chunks.
struct TerminalFilter {
    /// The bytes of a character whose end has not come.
    private var unfinished: [UInt8] = []

    /// What can be shown with the next chunk.
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

    /// What is left when the body is over: a character whose end never came.
    mutating func end() -> [UInt8] {
        defer { unfinished = [] }
        return Array(TerminalText.visible(String(decoding: unfinished, as: UTF8.self)).utf8)
    }

    /// The number of bytes of a character in UTF-8, by its first.
    private static func length(of first: UInt8) -> Int { first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2 }
}
