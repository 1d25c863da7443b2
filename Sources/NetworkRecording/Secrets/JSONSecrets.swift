import NetworkCore

/// A scanner that replaces the values of secret members in a JSON text, and leaves all other bytes as they are.
///
/// It works on anything that contains JSON: one text, lines of JSON, a text that was cut. It is not a parser, so it
/// reads each byte a few times at most, however the text is nested. ``EventSecrets`` has the rule for event streams.
struct JSONSecrets {
    /// A part of the text, and the bytes that take its place.
    struct Replacement {
        let range: Range<Int>
        let mark: [UInt8]
    }

    private let bytes: [UInt8]
    private var replacements: [Replacement] = []
    private var at = 0
    private let depth: Int
    /// The next quote after a line end, and whether it may close a string. The lines between it and the line end from
    /// which it was looked for are not read again.
    private var quoteAfterLine: (from: Int, quote: Int, closes: Bool)?

    /// Returns the text without its secrets, or `nil` if it contains none.
    /// - Parameter depth: The levels of texts within its strings that are looked into.
    static func redacted(_ bytes: [UInt8], depth: Int = TextSecrets.maximumDepth) -> [UInt8]? {
        replacements(in: bytes, depth: depth).applied(to: bytes)
    }

    /// Returns what takes the place of the secrets in a text, in the text's order.
    /// - Parameter depth: The levels of texts within its strings that are looked into.
    static func replacements(in bytes: [UInt8], depth: Int = TextSecrets.maximumDepth) -> [Replacement] {
        var scanner = JSONSecrets(bytes, depth)
        scanner.run()
        return scanner.replacements
    }

    private init(_ bytes: [UInt8], _ depth: Int) { (self.bytes, self.depth) = (bytes, depth) }

    private mutating func run() {
        while at < bytes.count {
            guard bytes[at] == UInt8(ascii: "\"") else {
                at += 1
                continue
            }
            let start = at + 1
            let (end, isClosed) = endOfString(at)
            at = end
            let text = bytes[start..<(isClosed ? end - 1 : end)]
            let plain = JSONEscapes.decoded(text)
            // A URL, JSON, or what looks like the value of `Authorization` where a server repeats the request. A name
            // may look like that too, and still have a secret value.
            if let shown = TextSecrets.redacted(plain, depth: depth) {
                replace(from: start - 1, to: end, by: JSONEscapes.encoded(shown))
            }
            guard isClosed, case let colon = afterBlanks(end), colon < bytes.count, bytes[colon] == UInt8(ascii: ":"),
                SecretName.isSecret(plain)
            else { continue }
            let value = afterBlanks(colon + 1)
            let valueEnd = endOfValue(value)
            if let mark = Self.mark(for: bytes[value..<valueEnd]) { replace(from: value, to: valueEnd, by: mark) }
            at = valueEnd
        }
    }

    private mutating func replace(from start: Int, to end: Int, by mark: [UInt8]) {
        guard start < end, !bytes[start..<end].elementsEqual(mark) else { return }
        replacements.append(Replacement(range: start..<end, mark: mark))
    }

    /// Returns what stands for a value: of the same kind, so that a program that decodes a replayed response finds the
    /// type that it expects. `nil` for a value that tells nothing.
    private static func mark(for value: ArraySlice<UInt8>) -> [UInt8]? {
        switch value.first {
        case UInt8(ascii: "{"): Array("{}".utf8)
        case UInt8(ascii: "["): Array("[]".utf8)
        case _ where value.allSatisfy { "+-.0123456789eE".utf8.contains($0) }: [UInt8(ascii: "0")]
        case _ where words.contains(Array(value)): nil
        default: SecretMark.json
        }
    }

    private static let words = Set(["true", "false", "null"].map { Array($0.utf8) })

    // MARK: Places

    /// Returns the offset after a string, and whether its closing quote was found. A string of JSON has no line feed:
    /// where one comes first, the text was cut or the quote was none, and the next line may be JSON again. If the next
    /// quote is followed by what follows a string, it closes the string all the same.
    private mutating func endOfString(_ start: Int) -> (end: Int, isClosed: Bool) {
        let end = nextQuote(start + 1, isLineEnd: { $0 == 0x0A || $0 == 0x0D })
        guard end < bytes.count, bytes[end] != UInt8(ascii: "\"") else {
            return (min(end + 1, bytes.count), end < bytes.count)
        }
        if quoteAfterLine.map({ end < $0.from || end >= $0.quote }) ?? true {
            let quote = nextQuote(end, isLineEnd: { _ in false })
            quoteAfterLine = (end, quote, quote < bytes.count && isEndOfMember(quote + 1))
        }
        guard let (_, quote, closes) = quoteAfterLine, closes else { return (end, false) }
        return (quote + 1, true)
    }

    /// Returns the offset of the next quote that is no escape, or of a line end before it; the text's end without one.
    private func nextQuote(_ start: Int, isLineEnd: (UInt8) -> Bool) -> Int {
        var index = start
        while index < bytes.count {
            switch bytes[index] {
            case UInt8(ascii: "\""): return index
            case let byte where isLineEnd(byte): return index
            case UInt8(ascii: "\\"): index += index + 1 < bytes.count && bytes[index + 1] >= 0x20 ? 2 : 1
            default: index += 1
            }
        }
        return bytes.count
    }

    /// Whether a string, or a name, may end before a place of its line.
    private func isEndOfMember(_ start: Int) -> Bool {
        let next = bytes[start...].first { $0 != 0x20 && $0 != 0x09 }
        return next.map { ",:]}\n\r".utf8.contains($0) } ?? true
    }

    /// Returns the offset after blanks and line ends.
    private func afterBlanks(_ start: Int) -> Int {
        bytes[start...].firstIndex { ![0x20, 0x09, 0x0A, 0x0D].contains($0) } ?? bytes.count
    }

    private mutating func endOfValue(_ start: Int) -> Int {
        guard start < bytes.count else { return bytes.count }
        switch bytes[start] {
        case UInt8(ascii: "\""): return endOfSecretString(start)
        case UInt8(ascii: "{"), UInt8(ascii: "["): return endOfNested(start)
        default: return endOfWord(start)
        }
    }

    /// Returns the offset after a string that is secret. It may go on in the next line, unless that begins a text of
    /// its own.
    private func endOfSecretString(_ start: Int) -> Int {
        var index = start + 1
        while index < bytes.count {
            switch bytes[index] {
            case UInt8(ascii: "\""): return index + 1
            case UInt8(ascii: "\\"): index += index + 1 < bytes.count && bytes[index + 1] >= 0x20 ? 2 : 1
            case 0x0A, 0x0D:
                let next = afterBlanks(index)
                if next < bytes.count, "{[}]".utf8.contains(bytes[next]) { return index }
                index = next
            default: index += 1
            }
        }
        return bytes.count
    }

    /// Returns the offset after an object or an array.
    private mutating func endOfNested(_ start: Int) -> Int {
        var (index, depth) = (start, 0)
        while index < bytes.count {
            switch bytes[index] {
            case UInt8(ascii: "\""): index = endOfString(index).end
            case UInt8(ascii: "{"), UInt8(ascii: "["):
                depth += 1
                index += 1
            case UInt8(ascii: "}"), UInt8(ascii: "]"):
                depth -= 1
                index += 1
                if depth == 0 { return index }
            default: index += 1
            }
        }
        return bytes.count
    }

    /// Returns the offset after a number, a word, or whatever is there.
    private func endOfWord(_ start: Int) -> Int {
        var end = bytes[start...].firstIndex { ",}]\n\r".utf8.contains($0) } ?? bytes.count
        while end > start, bytes[end - 1] == 0x20 || bytes[end - 1] == 0x09 { end -= 1 }
        return end
    }
}

extension [JSONSecrets.Replacement] {
    /// Returns a text with the replacements, which are in its order; `nil` without any.
    func applied(to bytes: [UInt8]) -> [UInt8]? {
        guard !isEmpty else { return nil }
        var (output, copied) = ([UInt8](), 0)
        for replacement in self {
            output += bytes[copied..<replacement.range.lowerBound]
            output += replacement.mark
            copied = replacement.range.upperBound
        }
        return output + bytes[copied...]
    }
}
