import NetworkCore

/// Takes a text apart, so that a timestamp in it hides no other difference.
///
/// The part `text:L/W` is the word W of line L, with the blanks after it; a tag begins and ends a word. A text of too
/// many words has a part `text:L` for each line. Nothing of the text is in no part.
enum TextParts {
    /// Returns the parts; `nil` for what is no text in UTF-8, and for one of too many lines.
    /// - Parameter type: The Content-Type in lowercase; empty for none.
    static func parts(
        of bytes: some Collection<UInt8>, _ type: String, limit: Int
    ) -> [PartName: PartValue]? {
        guard isText(type), String(validating: bytes, as: UTF8.self) != nil else { return nil }
        let lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        guard lines.count <= limit else { return nil }
        var parts: [PartName: PartValue] = [:]
        for (line, text) in lines.enumerated() {
            for (place, word) in words(of: text).enumerated() where parts.count <= limit {
                parts[PartName("text:\(line + 1)/\(place + 1)")] = PartValue(String(decoding: word, as: UTF8.self))
            }
        }
        guard parts.count > limit else { return parts }
        let whole = lines.enumerated().map { line, text in
            (PartName("text:\(line + 1)"), PartValue(String(decoding: text, as: UTF8.self)))
        }
        return Dictionary(uniqueKeysWithValues: whole)
    }

    private static func isText(_ type: String) -> Bool {
        type.isEmpty || type.hasPrefix("text/") || ["xml", "javascript"].contains { type.contains($0) }
    }

    /// Returns the words of a line; an empty one for an empty line.
    private static func words<Line: Collection<UInt8>>(of line: Line) -> [Line.SubSequence] {
        var words: [Line.SubSequence] = []
        var (start, last) = (line.startIndex, UInt8(ascii: "x"))
        for index in line.indices {
            let byte = line[index]
            let ends = isBlank(last) && !isBlank(byte) || last == UInt8(ascii: ">") && !isBlank(byte)
            if index > start, ends || byte == UInt8(ascii: "<") {
                words.append(line[start..<index])
                start = index
            }
            last = byte
        }
        return words + [line[start...]]
    }

    private static func isBlank(_ byte: UInt8) -> Bool { [0x20, 0x09, 0x0D].contains(byte) }
}
