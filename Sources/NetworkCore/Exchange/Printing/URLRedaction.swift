/// A redactor that removes user, password, query and fragment from URLs. It works on bytes, because a combining mark
/// after a `?` forms another Character.
struct URLRedaction {
    private let mark: [UInt8]

    init(_ mark: String) { self.mark = Array(mark.utf8) }

    /// Returns a word of a text with its URLs redacted. A word that contains a token is hidden as a whole.
    func word(_ word: [UInt8]) -> [UInt8] {
        if Self.holdsToken(word) { return mark }
        guard let end = Self.tail(of: word) else { return withoutUsers(word[...]) }
        let closing = word.reversed().prefix { Self.closers.contains($0) }.reversed()
        return head(word[..<end], before: word[end...]) + [word[end]] + mark + closing
    }

    /// Returns a whole URL or URL reference, redacted.
    func whole(_ text: [UInt8]) -> [UInt8] {
        let end = text.firstIndex { Self.tailMarks.contains($0) } ?? text.endIndex
        var shown = text[..<end]
        if Self.authority(in: shown) == nil {
            // Possibly a user and a password without a scheme.
            let first = shown.prefix { !Self.slashes.contains($0) }
            let mayGoOn = first.count == shown.count && text[end...].contains(UInt8(ascii: "@"))
            if Self.hasNoPort(first) {
                shown = mayGoOn ? [] : afterUser(shown) ?? []
            }
        }
        return head(shown, before: text[end...]) + (end < text.endIndex ? [text[end]] + mark : [])
    }

    /// Returns the part before a query or a fragment, without users and passwords. If an `@` follows, an apparent host
    /// and port are half of a user and a password: a password may contain a `#`.
    private func head(_ text: ArraySlice<UInt8>, before tail: ArraySlice<UInt8>) -> [UInt8] {
        guard tail.contains(UInt8(ascii: "@")) else { return withoutUsers(text) }
        var start: Int?
        while let next = Self.authority(in: text[(start ?? text.startIndex)...]) { start = next }
        let authority = text[(start ?? text.startIndex)...]
        guard !authority.contains(where: Self.slashes.contains), start != nil || authority.contains(UInt8(ascii: ":"))
        else { return withoutUsers(text) }
        return start.map { withoutUsers(text[..<$0]) + mark } ?? []
    }

    static let quotes = Array("'\"`".utf8)
    static let closers = Array("])}>'\",.;".utf8)
    private static let tailMarks = Array("?#".utf8)
    private static let slash = UInt8(ascii: "/")
    static let slashes = Array("/\\".utf8)

    /// Returns the start of a query or a fragment. Outside of URLs, `what?` and `#0` contain none.
    private static func tail(of word: [UInt8]) -> Int? {
        guard let first = word.firstIndex(where: { tailMarks.contains($0) }) else { return nil }
        let isURL = authority(in: word[...]) != nil
        return word[first...].indices.first { index in
            guard tailMarks.contains(word[index]) else { return false }
            let rest = word[(index + 1)...]
            if isURL { return !rest.isEmpty }
            let isNumber = rest.allSatisfy { closers.contains($0) || $0.isDigit }
            return !isNumber || word[index] == UInt8(ascii: "?") && rest.contains(where: \.isDigit)
        }
    }

    /// Returns the offset after the next `//`, `http:` or `https:` and any further slashes.
    static func authority(in text: ArraySlice<UInt8>) -> Int? {
        for index in text.indices {
            // A fast check, because most of the hundreds of bytes in an error begin neither.
            guard text[index] == UInt8(ascii: "/") || text[index] | 0x20 == UInt8(ascii: "h"),
                let count = markCount(at: text[index...])
            else { continue }
            return text[(index + count)...].firstIndex { !slashes.contains($0) } ?? text.endIndex
        }
        return nil
    }

    private static func markCount(at text: ArraySlice<UInt8>) -> Int? {
        let mark = authorityMarks.first { mark in
            text.count >= mark.count && zip(text, mark).allSatisfy { $0 == $1 || $0 | 0x20 == $1 }
        }
        return mark?.count
    }

    private static let authorityMarks = ["//", "http:", "https:"].map { Array($0.utf8) }

    /// Returns the text without the users and passwords of its URLs, and of `user:password@host` without a scheme.
    private func withoutUsers(_ text: ArraySlice<UInt8>) -> [UInt8] {
        var (shown, rest) = ([UInt8](), text)
        var ats = Ats(text)
        if Self.authority(in: text) == nil, text.prefix(while: { $0 != Self.slash }).contains(0x3A) {
            rest = afterUser(text, &ats, isSure: true) ?? text
        }
        while let start = Self.authority(in: rest) {
            shown += rest[..<start]
            guard let host = afterUser(rest[start...], &ats) else { return shown + mark }
            rest = host
        }
        return shown + rest
    }

    /// Returns the text after a user and a password at the start of an authority, or all of it if there are none.
    /// - Parameters:
    ///   - ats: The places of `@` in the text and before it.
    ///   - isSure: Whether only an `@` before the first slash marks a user.
    /// - Returns: `nil` if the text may be half of a user and a password.
    private func afterUser(_ text: ArraySlice<UInt8>, _ ats: inout Ats, isSure: Bool = false) -> ArraySlice<UInt8>? {
        // A backslash may be part of a user's name, after a domain.
        if let ends = ats.lastBeforeSlash(from: text.startIndex) {
            return isMarked(text[..<ends], isSure: isSure) ? text : text[(ends + 1)...]
        }
        let authority = text.prefix { !Self.slashes.contains($0) }
        guard !isSure, let port = Self.port(of: authority) else { return text }
        // A password that contains a slash and may look like a port, or a text that was cut.
        if let last = ats.last, last >= text.startIndex { return text[(last + 1)...] }
        return Self.isPort(port) ? text : nil
    }

    private func afterUser(_ text: ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
        var ats = Ats(text)
        return afterUser(text, &ats)
    }

    /// The places of `@` in a text that is read from its start to its end. Each byte is looked at once, wherever a text
    /// has its authorities: one at each second byte would have the rest searched as often.
    private struct Ats {
        private let text: ArraySlice<UInt8>
        let last: Int?
        private var slash: Int
        private var beforeSlash: Int?

        init(_ text: ArraySlice<UInt8>) {
            self.text = text
            last = text.lastIndex(of: UInt8(ascii: "@"))
            slash = text.startIndex - 1
        }

        /// Returns the last one between a place and the next slash. The place is never before that of an earlier call.
        mutating func lastBeforeSlash(from start: Int) -> Int? {
            if start > slash {
                slash = text[start...].firstIndex(of: URLRedaction.slash) ?? text.endIndex
                beforeSlash = text[start..<slash].lastIndex(of: UInt8(ascii: "@"))
            }
            return beforeSlash.flatMap { $0 >= start ? $0 : nil }
        }
    }

    /// Whether a user was hidden before: alone, or after a quote without a scheme.
    private func isMarked(_ user: ArraySlice<UInt8>, isSure: Bool) -> Bool {
        guard user.count >= mark.count, user.suffix(mark.count).elementsEqual(mark) else { return false }
        let before = user.dropLast(mark.count)
        return before.last.map { isSure && Self.quotes.contains($0) && !before.contains(0x3A) } ?? true
    }

    /// Whether the text after the host's colon is not a port.
    private static func hasNoPort(_ authority: ArraySlice<UInt8>) -> Bool {
        port(of: authority).map { !isPort($0) } ?? false
    }

    /// Whether the text after a host's colon may be a port, followed by closing punctuation.
    private static func isPort(_ text: ArraySlice<UInt8>) -> Bool {
        let digits = text.prefix(while: \.isDigit)
        guard text[digits.endIndex...].allSatisfy(closers.contains), digits.count <= 5 else { return false }
        return digits.reduce(0) { $0 * 10 + Int($1 - 0x30) } <= 65_535
    }

    /// Returns the text after the host's colon, or `nil` if there is none.
    private static func port(of authority: ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
        let isIPv6 = authority.first == UInt8(ascii: "[")
        let end = isIPv6 ? authority.firstIndex(of: UInt8(ascii: "]")) : nil
        let name = end.map { authority[($0 + 1)...] } ?? authority
        return name.firstIndex(of: UInt8(ascii: ":")).map { name[($0 + 1)...] }
    }

    /// Whether a word contains a JSON Web Token (RFC 7519): three parts in Base64, the first of which is an object.
    private static func holdsToken(_ word: [UInt8]) -> Bool {
        // `firstRange(of:)` would take 100,000 instructions for the words of one error.
        let start = word.indices.dropLast(2).first { index in
            word[index] == UInt8(ascii: "e") && word[index + 1] == UInt8(ascii: "y")
                && word[index + 2] == UInt8(ascii: "J")
        }
        guard let start else { return false }
        return word[(start + 3)...].count { $0 == UInt8(ascii: ".") } >= 2
    }
}
