import JSONText
import NetworkCore

/// Takes a text apart, so that a timestamp in it hides no other difference.
///
/// The part `text:L/W` is the word W of line L, with the blanks after it; a tag begins and ends a word. A text of too
/// many words has a part `text:L` for each line. Nothing of the text is in no part.
enum TextParts {
    /// Returns the parts of a text of a type in lowercase; `nil` for none in UTF-8, and for one of too many lines.
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

/// The start of a JSON text as a whole one.
enum JSONPrefix {
    /// Returns the text up to its last complete value, with brackets that end it there, unless it has none or too many.
    static func completed(_ bytes: [UInt8]) -> [UInt8] {
        var open: [UInt8] = []
        var (end, ends) = (bytes.count, [UInt8]())
        var (isString, isEscaped, hasBrackets) = (false, false, false)
        for (index, byte) in bytes.enumerated() {
            if isEscaped {
                isEscaped = false
                continue
            }
            if isString {
                isEscaped = byte == UInt8(ascii: "\\")
                isString = byte != UInt8(ascii: "\"")
                continue
            }
            switch byte {
            case UInt8(ascii: "\""): isString = true
            case UInt8(ascii: "{"), UInt8(ascii: "["):
                // The closing bracket is two after the opening one in ASCII.
                open.append(byte + 2)
                // The parser refuses what is deeper, and each bracket copies those that are open.
                guard open.count <= maximumOpen else { return bytes }
                (end, ends, hasBrackets) = (index + 1, open, true)
            case UInt8(ascii: "}"), UInt8(ascii: "]"):
                _ = open.popLast()
                (end, ends) = (index + 1, open)
            case UInt8(ascii: ","): (end, ends) = (index, open)
            default: break
            }
        }
        return hasBrackets ? bytes[..<end] + ends.reversed() : bytes
    }

    /// The most brackets that are open at once in a text that the parser reads: the outermost one has the depth 0.
    private static let maximumOpen = JSONParser.maximumDepth + 1
}
