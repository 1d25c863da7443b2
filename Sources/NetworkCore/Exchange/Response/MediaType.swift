import HTTPTypes

/// A media type with its parameters, as in `Content-Type` (RFC 9110 §8.3.1). Names are in lower case.
package struct MediaType: Sendable, Hashable {
    package let type: String
    package let subtype: String
    package private(set) var parameters: [String: String] = [:]

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
        var rest = text.utf8
        return rest.first == UInt8(ascii: "\"") ? rest.popQuoted() ?? String(text) : String(text)
    }

    private static func isToken(_ text: some StringProtocol) -> Bool {
        !text.isEmpty && text.utf8.allSatisfy(\.isOfToken)
    }
}

struct ContentRange: Hashable, Sendable {
    var first: Int?
    var last: Int?
    /// The whole length; `nil` if the server does not know it.
    var total: Int?

    init?(_ text: String) {
        guard text.lowercasedASCII.hasBytePrefix("bytes ") else { return nil }
        let parts = Substring(text.utf8.dropFirst(6)).split(atByte: UInt8(ascii: "/"))
        guard parts.count == 2 else { return nil }
        if parts[1] != "*" {
            guard let total = Int(asciiDigits: parts[1].utf8) else { return nil }
            self.total = total
        }
        if parts[0] == "*" { return }
        let ends = parts[0].split(atByte: UInt8(ascii: "-")).map { Int(asciiDigits: $0.utf8) }
        guard ends.count == 2, let first = ends[0], let last = ends[1], first <= last, last < total ?? .max else {
            return nil
        }
        (self.first, self.last) = (first, last)
    }
}

extension TransportRequest {
    /// Returns whether a 206 may have the part that the request is for (RFC 9110 §15.3.7).
    func asked(forPartIn head: HTTPResponse) -> Bool {
        guard let range = headerFields[.range] else { return false }
        let ends = range.utf8.starts(with: "bytes=".utf8) ? Substring(range.utf8.dropFirst(6)) : ""
        let parts = ends.split(atByte: UInt8(ascii: "-"))
        guard parts.count == 2, !parts[0].isEmpty, let first = Int(parts[0]) else { return true }
        guard let part = head.headerFields[.contentRange].flatMap({ ContentRange($0) }) else { return true }
        return part.first == first
    }
}
