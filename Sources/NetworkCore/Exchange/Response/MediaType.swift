/// A media type with its parameters, as in `Content-Type` (RFC 9110 §8.3.1). Names are in lower case.
package struct MediaType: Sendable, Hashable {
    package let type: String
    package let subtype: String
    package private(set) var parameters: [String: String] = [:]

    /// - Returns: `nil` if the text is not a media type. Invalid parameters are ignored.
    package init?(_ text: String) {
        let parts = Self.parts(of: text)
        let names = parts[0].split(atByte: UInt8(ascii: "/")).map(\.withoutBlanks)
        guard names.count == 2, names.allSatisfy({ Self.isToken($0) }) else { return nil }
        (type, subtype) = (names[0].lowercasedASCII, names[1].lowercasedASCII)
        for part in parts.dropFirst() {
            let halves = part.split(atByte: UInt8(ascii: "="), maximumSplits: 1)
            let name = halves[0].withoutBlanks.lowercasedASCII
            guard halves.count == 2, Self.isToken(name), parameters[name] == nil else { continue }
            parameters[name] = Self.unquoted(halves[1].withoutBlanks)
        }
    }

    /// The type and subtype without parameters: `text/html`.
    package var essence: String { "\(type)/\(subtype)" }

    /// A name from a Content-Type as an error may show it: printable ASCII, and cut at 64 bytes.
    package static func shown(_ name: String) -> String {
        let text = name.unicodeScalars.prefix(shownBytes + 1).map { $0.escaped(asASCII: true) }.joined()
        guard text.utf8.count > shownBytes else { return text }
        return String(decoding: text.utf8.prefix(shownBytes - 3), as: UTF8.self) + "..."
    }

    private static let shownBytes = 64

    /// Returns whether a pattern matches: `application/json`, `text/*`, `*/*`, or `*/*+json` for all types with that
    /// suffix. Parameters of the pattern are ignored.
    package func matches(_ pattern: String) -> Bool {
        let essence = pattern.split(atByte: UInt8(ascii: ";"), maximumSplits: 1)[0].withoutBlanks
        let names = essence.lowercasedASCII.split(atByte: UInt8(ascii: "/"))
        guard names.count == 2, names[0] == "*" || names[0].hasSameBytes(as: type) else { return false }
        if names[1].hasBytePrefix("*+") { return subtype.hasByteSuffix(names[1].dropFirst()) }
        return names[1] == "*" || names[1].hasSameBytes(as: subtype)
    }

    /// Returns the parts between semicolons that are not within quotes.
    private static func parts(of text: String) -> [Substring] {
        var parts: [Substring] = []
        var start = text.startIndex
        var (isQuoted, isEscaped) = (false, false)
        for (index, byte) in zip(text.utf8.indices, text.utf8) {
            if isEscaped {
                isEscaped = false
            } else if isQuoted, byte == UInt8(ascii: "\\") {
                isEscaped = true
            } else if byte == UInt8(ascii: "\"") {
                isQuoted.toggle()
            } else if byte == UInt8(ascii: ";"), !isQuoted {
                parts.append(text[start..<index])
                start = text.utf8.index(after: index)
            }
        }
        return parts + [text[start...]]
    }

    private static func unquoted(_ text: Substring) -> String {
        let bytes = text.utf8
        guard bytes.count >= 2, bytes.first == UInt8(ascii: "\""), bytes.last == UInt8(ascii: "\"") else {
            return String(text)
        }
        var (result, isEscaped): ([UInt8], Bool) = ([], false)
        for byte in bytes.dropFirst().dropLast() {
            if !isEscaped, byte == UInt8(ascii: "\\") {
                isEscaped = true
            } else {
                result.append(byte)
                isEscaped = false
            }
        }
        return String(decoding: result, as: UTF8.self)
    }

    private static func isToken(_ text: some StringProtocol) -> Bool {
        !text.isEmpty && text.utf8.allSatisfy(\.isOfToken)
    }
}
