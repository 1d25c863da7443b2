/// The redaction of URLs. It works on bytes, because a combining mark after a `?` forms another Character. What may be
/// half of a user and a password is hidden as a whole.
extension Redaction {
    private var markBytes: [UInt8] { Array(mark.utf8) }

    /// Returns a word of a text with its URL redacted. A word that contains a token is hidden as a whole.
    func word(_ word: ArraySlice<UInt8>) -> [UInt8] {
        if Self.holdsToken(word) { return markBytes }
        guard let start = Self.authority(in: word.prefix { !Self.beginsTail($0) }) else {
            let isUser = word.firstIndex(of: Self.colon).map { word[$0...].contains(Self.at) } ?? false
            return isUser ? markBytes : withoutTail(word)
        }
        return authority(of: word, from: start)
    }

    func urlBytes(_ text: ArraySlice<UInt8>) -> [UInt8] {
        // Possibly a user and a password without a scheme.
        authority(of: text, from: Self.authority(in: text.prefix { !Self.beginsTail($0) }) ?? text.startIndex)
    }

    private func authority(of text: ArraySlice<UInt8>, from start: Int) -> [UInt8] {
        let end = text[start...].firstIndex(where: Self.beginsTail) ?? text.endIndex
        let tail = end < text.endIndex && end + 1 < text.endIndex ? [text[end]] + markBytes : Array(text[end...])
        let host = text[start..<end].prefix { $0 != Self.slash }
        let hidden = text[..<start] + markBytes + tail
        let isLast = host.endIndex == end
        if let user = host.lastIndex(of: Self.at) {
            // A password may contain a `#` or a `?`.
            if isLast, text[end...].contains(Self.at) { return Array(hidden) }
            return text[..<start] + text[(user + 1)..<end] + tail
        }
        let port = Self.port(of: host)
        // A password may contain a slash too, and begin as a port does.
        let isURL = start > text.startIndex
        let mayBeUser =
            isLast ? text[end...].contains(Self.at) : (port != nil || !isURL) && text[..<end].contains(Self.at)
        let isPort = port.map(Self.isPort) ?? true
        // Another authority, in a list of URLs.
        let hasMore = isURL && Self.authority(in: text[host.endIndex..<end]) != nil
        return mayBeUser && !host.isEmpty || !isPort || hasMore ? Array(hidden) : text[..<end] + tail
    }

    /// Returns a word that is no URL without a query or a fragment. `what?` and `#0` contain none.
    private func withoutTail(_ word: ArraySlice<UInt8>) -> [UInt8] {
        guard let end = word.firstIndex(where: Self.beginsTail) else { return Array(word) }
        let hasPath = word[..<end].contains(Self.slash)
        guard word[(end + 1)...].contains(where: { $0.isLetter || hasPath }) else { return Array(word) }
        return word[...end] + markBytes
    }

    private static let (slash, at, colon) = (UInt8(ascii: "/"), UInt8(ascii: "@"), UInt8(ascii: ":"))

    private static func beginsTail(_ byte: UInt8) -> Bool { byte == UInt8(ascii: "?") || byte == UInt8(ascii: "#") }

    private static func isSlash(_ byte: UInt8) -> Bool { byte == slash || byte == UInt8(ascii: "\\") }

    /// Returns the offset after the next `//`, `http:` or `https:` and any further slashes.
    private static func authority(in text: ArraySlice<UInt8>) -> Int? {
        for index in text.indices {
            // A fast check, because most of the hundreds of bytes in an error begin neither.
            guard text[index] == slash || text[index] | 0x20 == UInt8(ascii: "h"),
                let start = starts.first(where: { start in
                    text[index...].count >= start.count
                        && zip(text[index...], start).allSatisfy { $0 == $1 || $0 | 0x20 == $1 }
                })
            else { continue }
            return text[(index + start.count)...].firstIndex { !isSlash($0) } ?? text.endIndex
        }
        return nil
    }

    private static let starts = ["//", "http:", "https:"].map { Array($0.utf8) }

    /// Returns the text after the host's colon, or `nil` if there is none.
    private static func port(of host: ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
        let isIPv6 = host.first == UInt8(ascii: "[")
        let end = isIPv6 ? host.firstIndex(of: UInt8(ascii: "]")) : nil
        let name = end.map { host[($0 + 1)...] } ?? host
        return name.firstIndex(of: colon).map { name[($0 + 1)...] }
    }

    /// Whether the text after a host's colon may be a port, followed by closing punctuation.
    private static func isPort(_ text: ArraySlice<UInt8>) -> Bool {
        let digits = text.prefix(while: \.isDigit)
        guard text[digits.endIndex...].allSatisfy("])}>'\",.;".utf8.contains), digits.count <= 5 else { return false }
        return digits.reduce(0) { $0 * 10 + Int($1 - 0x30) } <= 65_535
    }

    /// Whether a word contains a JSON Web Token (RFC 7519): three parts in Base64, the first of which is an object.
    private static func holdsToken(_ word: ArraySlice<UInt8>) -> Bool {
        // `firstRange(of:)` would take 100,000 instructions for the words of one error.
        let start = word.indices.dropLast(2).first { index in
            word[index] == UInt8(ascii: "e") && word[index + 1] == UInt8(ascii: "y")
                && word[index + 2] == UInt8(ascii: "J")
        }
        guard let start else { return false }
        return word[(start + 3)...].count { $0 == UInt8(ascii: ".") } >= 2
    }
}
