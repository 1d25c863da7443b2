/// Text compared byte by byte, for everything that a peer reads byte by byte.
extension StringProtocol {
    /// Whether the text starts with the bytes of a prefix.
    package func hasBytePrefix(_ prefix: some StringProtocol) -> Bool { utf8.starts(with: prefix.utf8) }

    /// Whether the text ends with the bytes of a suffix.
    package func hasByteSuffix(_ suffix: some StringProtocol) -> Bool {
        utf8.reversed().starts(with: suffix.utf8.reversed())
    }

    package func hasSameBytes(as other: some StringProtocol) -> Bool { utf8.elementsEqual(other.utf8) }

    /// Whether the text contains a byte, which must be ASCII.
    package func contains(byte: UInt8) -> Bool { utf8.contains(byte) }

    /// Returns the parts between the bytes that equal a separator, which must be ASCII. Empty parts count.
    package func split(atByte separator: UInt8, maximumSplits: Int = .max) -> [SubSequence] {
        utf8.split(separator: separator, maxSplits: maximumSplits, omittingEmptySubsequences: false).map {
            self[$0.startIndex..<$0.endIndex]
        }
    }

    /// Returns the text with texts in place of ASCII characters.
    package func replacing(ascii texts: [UInt8: String]) -> String {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(utf8.count)
        for byte in utf8 {
            if let text = texts[byte] { bytes += text.utf8 } else { bytes.append(byte) }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// The text with A to Z in lower case and all other characters unchanged.
    package var lowercasedASCII: String {
        String(decoding: utf8.map { (0x41...0x5A).contains($0) ? $0 | 0x20 : $0 }, as: UTF8.self)
    }

    /// The text without leading and trailing spaces and tabs.
    package var withoutBlanks: SubSequence {
        var (start, end) = (endIndex, endIndex)
        for index in utf8.indices where !utf8[index].isBlank {
            if start == endIndex { start = index }
            end = utf8.index(after: index)
        }
        return self[start..<end]
    }
}
