/// Text by its bytes, for everything that a peer reads byte by byte.
///
/// `==`, `hasPrefix`, `contains` and `split` compare Characters: a combining mark after a delimiter hides the
/// delimiter, U+037E equals a semicolon, and U+212A is a `k` in lower case.
extension StringProtocol {
    /// Whether the first bytes are those of the prefix.
    package func hasBytePrefix(_ prefix: some StringProtocol) -> Bool { utf8.starts(with: prefix.utf8) }

    /// Whether the last bytes are those of the suffix.
    package func hasByteSuffix(_ suffix: some StringProtocol) -> Bool {
        utf8.reversed().starts(with: suffix.utf8.reversed())
    }

    /// Whether all bytes are those of the other text.
    package func hasSameBytes(as other: some StringProtocol) -> Bool { utf8.elementsEqual(other.utf8) }

    /// Whether one of the bytes is this one, a byte of ASCII.
    package func contains(byte: UInt8) -> Bool { utf8.contains(byte) }

    /// The parts between the bytes that equal a separator, a byte of ASCII; empty parts count.
    package func split(atByte separator: UInt8, maximumSplits: Int = .max) -> [SubSequence] {
        utf8.split(separator: separator, maxSplits: maximumSplits, omittingEmptySubsequences: false).map {
            self[$0.startIndex..<$0.endIndex]
        }
    }

    /// The text with A to Z in lower case, and no other letter changed.
    package var lowercasedASCII: String {
        String(decoding: utf8.map { (0x41...0x5A).contains($0) ? $0 | 0x20 : $0 }, as: UTF8.self)
    }

    /// The text without the spaces and tabs around it.
    package var withoutBlanks: SubSequence {
        var (start, end) = (endIndex, endIndex)
        for index in utf8.indices where utf8[index] != UInt8(ascii: " ") && utf8[index] != UInt8(ascii: "\t") {
            if start == endIndex { start = index }
            end = utf8.index(after: index)
        }
        return self[start..<end]
    }
}
