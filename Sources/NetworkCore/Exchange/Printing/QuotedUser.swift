/// The user and the password in a library's message, where they need not be part of a URL. libcurl quotes a proxy from
/// the environment as it is written there, with any blanks, `#`, `?` and quotes in it.
///
/// Everything between the first place where a user may begin and the last `@` is treated as user and password.
struct QuotedUser {
    private let mark: [UInt8]

    init(_ mark: String) { self.mark = Array(mark.utf8) }

    /// Returns the text with the mark in place of a user that ``URLRedaction`` would not recognize as a whole, because
    /// it works word by word.
    /// - Parameter isWhole: Whether the text ends here. In a text that was cut, an `@` may follow.
    func hidden(in text: [UInt8], isWhole: Bool) -> [UInt8] {
        guard isWhole else { return Place.first(in: text).map { text[..<$0.offset] + mark } ?? text }
        guard let end = text.lastIndex(of: UInt8(ascii: "@")), let place = Place.first(in: text), place.offset < end
        else { return text }
        let (start, user) = (text[..<place.offset], text[place.offset..<end])
        let isWord = !user.contains(where: Self.cuts) && (!place.isBare || user.contains(UInt8(ascii: ":")))
        if isWord || user.elementsEqual(mark) { return text }
        let rest = text[end...]
        guard user.contains(where: Self.beginsTail) else { return start + mark + rest }
        // The `@` may also be part of a query, which continues after it.
        let word = rest.prefix { $0 > 0x20 }
        let closing = word.reversed().prefix { URLRedaction.closers.contains($0) }.reversed()
        return start + mark + closing + rest[word.endIndex...]
    }

    /// Whether a byte ends a word, a URL's path or its host.
    private static func cuts(_ byte: UInt8) -> Bool {
        byte <= 0x20 || byte == UInt8(ascii: "/") || beginsTail(byte)
    }

    private static func beginsTail(_ byte: UInt8) -> Bool { byte == UInt8(ascii: "#") || byte == UInt8(ascii: "?") }

    /// The place where a user may begin: after the first `//`, at the first opening quote, or at the first word with a
    /// colon.
    private struct Place {
        let offset: Int
        /// Whether a user without a password may begin here: after a quote, without a scheme.
        let isBare: Bool

        static func first(in text: [UInt8]) -> Place? {
            var (word, last) = (0, UInt8(ascii: " "))
            for (index, byte) in text.enumerated() {
                let isQuote = URLRedaction.quotes.contains(byte) && openers.contains(last)
                last = byte
                guard isQuote || byte <= 0x20 else { continue }
                if let place = Place(text[word..<index], isQuoted: false) { return place }
                word = index + 1
                if isQuote { return Place(text[word...].prefix { $0 > 0x20 }, isQuoted: true) }
            }
            return Place(text[word...], isQuoted: false)
        }

        private init?(_ word: ArraySlice<UInt8>, isQuoted: Bool) {
            let authority = URLRedaction.authority(in: word)
            let colon = word.firstIndex(of: UInt8(ascii: ":"))
            if let authority, isQuoted ? Self.isScheme(word[..<authority]) : Self.isBehindScheme(authority, colon, word)
            {
                (offset, isBare) = (authority, false)
                return
            }
            guard isQuoted || colon.map({ $0 + 1 < word.endIndex }) ?? false else { return nil }
            (offset, isBare) = (word.startIndex, isQuoted)
        }

        /// Whether a quoted text begins as a URL does. Any other start is more likely a user name than a scheme.
        private static func isScheme(_ start: ArraySlice<UInt8>) -> Bool {
            let name = start.prefix { !URLRedaction.slashes.contains($0) }
            guard start[name.endIndex...].allSatisfy(URLRedaction.slashes.contains) else { return false }
            return name.isEmpty || schemes.contains(String(decoding: name, as: UTF8.self).lowercasedASCII)
        }

        /// Whether the colon before an authority belongs to the scheme. Any other colon separates a user from a
        /// password.
        private static func isBehindScheme(_ authority: Int, _ colon: Int?, _ word: ArraySlice<UInt8>) -> Bool {
            guard let colon, colon < authority else { return true }
            return word[(colon + 1)..<authority].allSatisfy(URLRedaction.slashes.contains)
        }

        private static let schemes: Set<String> = [
            "http:", "https:", "socks:", "socks4:", "socks4a:", "socks5:", "socks5h:", "ftp:", "ws:", "wss:",
        ]
        /// The bytes after which a quote opens a quotation. Within a word it is an apostrophe.
        private static let openers = Array(" \t\n=:([{<,".utf8)
    }
}
