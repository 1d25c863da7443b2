/// A media type with its parameters, as `Content-Type` writes it (RFC 9110 §8.3.1): names in lower case.
package struct MediaType: Sendable, Hashable {
    package let type: String
    package let subtype: String
    package private(set) var parameters: [String: String] = [:]

    /// - Returns: `nil` for what is not a media type. Parameters that can't be read are left out.
    package init?(_ text: String) {
        let parts = Self.split(text, at: ";")
        let names = parts[0].split(separator: "/", omittingEmptySubsequences: false).map { Self.trimmed($0) }
        guard names.count == 2, names.allSatisfy({ Self.isToken($0) }) else { return nil }
        (type, subtype) = (names[0].lowercased(), names[1].lowercased())
        for part in parts.dropFirst() {
            guard let mark = part.firstIndex(of: "=") else { continue }
            let name = Self.trimmed(part[..<mark]).lowercased()
            guard Self.isToken(name), parameters[name] == nil else { continue }
            parameters[name] = Self.unquoted(Self.trimmed(part[part.index(after: mark)...]))
        }
    }

    /// `text/html`, without parameters.
    package var essence: String { "\(type)/\(subtype)" }

    /// Whether a pattern covers it: `application/json`, `text/*`, `*/*`, or `*/*+json` for all whose suffix is that.
    package func matches(_ pattern: String) -> Bool {
        let names = pattern.lowercased().split(separator: "/", omittingEmptySubsequences: false)
        guard names.count == 2, names[0] == "*" || names[0] == type else { return false }
        if names[1].hasPrefix("*+") { return subtype.hasSuffix(names[1].dropFirst()) }
        return names[1] == "*" || names[1] == subtype
    }

    /// The parts between separators that are not within quotes.
    private static func split(_ text: String, at separator: Character) -> [Substring] {
        var parts: [Substring] = []
        var start = text.startIndex
        var (isQuoted, isEscaped) = (false, false)
        for index in text.indices {
            if isEscaped {
                isEscaped = false
            } else if isQuoted, text[index] == "\\" {
                isEscaped = true
            } else if text[index] == "\"" {
                isQuoted.toggle()
            } else if text[index] == separator, !isQuoted {
                parts.append(text[start..<index])
                start = text.index(after: index)
            }
        }
        return parts + [text[start...]]
    }

    private static func trimmed(_ text: Substring) -> String {
        let isSpace: (Character) -> Bool = { $0 == " " || $0 == "\t" }
        return String(text.drop(while: isSpace).reversed().drop(while: isSpace).reversed())
    }

    private static func unquoted(_ text: String) -> String {
        guard text.count >= 2, text.hasPrefix("\""), text.hasSuffix("\"") else { return text }
        var (result, isEscaped) = ("", false)
        for character in text.dropFirst().dropLast() {
            if !isEscaped, character == "\\" {
                isEscaped = true
            } else {
                result.append(character)
                isEscaped = false
            }
        }
        return result
    }

    private static func isToken(_ text: String) -> Bool {
        !text.isEmpty
            && text.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"):
                    true
                default: "!#$%&'*+-.^_`|~".utf8.contains(byte)
                }
            }
    }
}
