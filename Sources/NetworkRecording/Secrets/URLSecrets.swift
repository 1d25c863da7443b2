/// A scanner that removes users and passwords from the URLs in a text, and replaces the values of secret parameters.
///
/// The text is a URL, or anything that contains some, such as the value of `Link`. Each byte is read a few times at
/// most.
struct URLSecrets {
    private let text: [UInt8]
    /// Whether no escape is left to decode, so that a value holds no other text.
    private let isDecoded: Bool
    /// The levels of texts within texts that are looked into.
    private let depth: Int
    private let lastAt: Int?
    private var output: [UInt8] = []
    private var at = 0
    private var isChanged = false
    private var place = Authority()
    /// Whether the place is after a `?` or a `#`, and not in a path.
    private var isInQuery = false

    /// The most times that a text is read: what a user was removed from may be another URL with a user.
    private static let maximumRounds = 10

    /// Returns the text without its secrets, or `nil` if it contains none.
    /// - Parameter depth: The levels of texts within its parameters that are looked into.
    static func redacted(_ text: [UInt8], depth: Int = TextSecrets.maximumDepth) -> [UInt8]? {
        var output: [UInt8]?
        for _ in 0..<maximumRounds {
            guard let next = redactedOnce(output ?? text, depth: depth) else { return output }
            output = next
        }
        return SecretMark.bytes
    }

    private static func redactedOnce(_ text: [UInt8], isDecoded: Bool = false, depth: Int) -> [UInt8]? {
        guard mayHold(text) else { return nil }
        var scanner = URLSecrets(text, isDecoded: isDecoded, depth)
        scanner.run()
        return scanner.isChanged ? scanner.output : nil
    }

    /// Returns the text without its secrets.
    static func redacted(_ text: String) -> String {
        redacted(Array(text.utf8)).map { String(decoding: $0, as: UTF8.self) } ?? text
    }

    /// Returns whether a value, percent-encoded or not, contains a secret parameter or a user.
    /// - Parameter depth: The levels of texts that are left. Without any, a text that may contain another one is a
    ///   secret.
    static func holdsSecret(_ value: some Collection<UInt8>, depth: Int = TextSecrets.maximumDepth) -> Bool {
        let plain = SecretName.decoded(value)
        // Once decoded, a value is not looked into again: a name for each level would cost a level of the stack.
        if redactedOnce([UInt8(ascii: "?")] + plain, isDecoded: true, depth: 0) != nil { return true }
        if TokenSecrets.redacted(plain) != nil { return true }
        // A form often carries a JSON text.
        guard plain.contains(UInt8(ascii: "\"")) else { return false }
        return depth == 0 || JSONSecrets.redacted(plain, depth: depth - 1) != nil
    }

    private init(_ text: [UInt8], isDecoded: Bool, _ depth: Int) {
        (self.text, self.isDecoded, self.depth) = (text, isDecoded, depth)
        // Found once: a text with an authority at each second byte would be searched to its end each time.
        lastAt = text.lastIndex(of: UInt8(ascii: "@"))
    }

    /// Whether a text has a byte before which a secret may begin.
    static func mayHold(_ text: [UInt8]) -> Bool { text.contains { marks.contains($0) } }

    private static let marks = Set("?&#;@".utf8)
    private static let slashes = Set("/\\".utf8)
    private static let ends = Set("\"<> \t\r\n".utf8)

    private mutating func run() {
        while at < text.count {
            let byte = text[at]
            output.append(byte)
            at += 1
            switch byte {
            case UInt8(ascii: "?"), UInt8(ascii: "#"):
                isInQuery = true
                pair()
            case UInt8(ascii: "&"), UInt8(ascii: ";"): pair()
            case UInt8(ascii: ":") where isAfterScheme: authority()
            case UInt8(ascii: "/") where at < text.count && Self.slashes.contains(text[at]): authority()
            default: if Self.ends.contains(byte) { isInQuery = false }
            }
        }
    }

    /// Whether the colon before the place belongs to `http:` or `https:`.
    private var isAfterScheme: Bool {
        ["http:", "https:"].contains { scheme in
            guard at >= scheme.utf8.count else { return false }
            return zip(text[(at - scheme.utf8.count)..<at], scheme.utf8).allSatisfy { $0 == $1 || $0 | 0x20 == $1 }
        }
    }

    /// Skips a user and a password at the start of an authority, and at the start of another one that begins where they
    /// have been.
    private mutating func authority() {
        var rest: Int
        repeat {
            rest = text.count - at
            skipUser()
        } while text.count - at < rest && at < text.count && Self.slashes.contains(text[at])
    }

    private mutating func skipUser() {
        while at < text.count, Self.slashes.contains(text[at]) {
            output.append(text[at])
            at += 1
        }
        // A URL in a query is a part of the query, whose values end where it says.
        if at > place.end {
            let end = text[at...].firstIndex { Self.isEnd($0) || "/?#\\".utf8.contains($0) } ?? text.count
            let authority = text[at..<end]
            place = Authority(
                end: end, at: authority.lastIndex(of: UInt8(ascii: "@")),
                bracket: authority.lastIndex(of: UInt8(ascii: "]")))
        }
        if let user = place.at, user >= at {
            dropUser(to: user + 1)
        } else if let lastAt, lastAt > place.end, hasNoPort {
            // A password with a slash or a question mark in it.
            dropUser(to: lastAt + 1)
        }
    }

    /// Drops a user and a password. What looks like them may hold a secret parameter, whose value has the `@` in it and
    /// goes on after it.
    private mutating func dropUser(to end: Int) {
        let pieces = text[at..<end].split(omittingEmptySubsequences: false) { Self.querySeparators.contains($0) }
        let holdsParameter = pieces.dropFirst().contains { piece in
            piece.firstIndex(of: UInt8(ascii: "=")).map { SecretName.isSecret(encoded: piece[..<$0]) } ?? false
        }
        guard holdsParameter else { return drop(to: end) }
        output += SecretMark.bytes
        drop(to: text[end...].firstIndex { Self.isEnd($0) || "&#".utf8.contains($0) } ?? text.count)
    }

    /// Where an authority ends, and where it has its last `@` and its last `]`: looked for once, since a text may have
    /// an authority at each of its bytes.
    private struct Authority {
        var end = -1
        var at: Int?
        var bracket: Int?
    }

    /// Whether the text after the host's colon is not a port.
    private var hasNoPort: Bool {
        let name = text[max(at, place.bracket.map { $0 + 1 } ?? at)..<place.end]
        guard let colon = name.firstIndex(of: UInt8(ascii: ":")) else { return false }
        return !name[(colon + 1)...].allSatisfy { (0x30...0x39).contains($0) }
    }

    private static func isEnd(_ byte: UInt8) -> Bool { ends.contains(byte) }

    private mutating func drop(to end: Int) {
        at = end
        isChanged = true
    }

    /// Reads a name and its value, and replaces the value if it is secret.
    private mutating func pair() {
        let isInPath = !isInQuery
        let separators = isInPath ? Self.pathSeparators : Self.querySeparators
        let nameEnd =
            text[at...].firstIndex { Self.isEnd($0) || separators.contains($0) || $0 == UInt8(ascii: "=") }
            ?? text.count
        let name = text[at..<nameEnd]
        // A name that is encoded may be a text of its own.
        if !isDecoded, name.contains(UInt8(ascii: "%")), Self.holdsSecret(name, depth: depth) {
            let end = text[nameEnd...].firstIndex { Self.isEnd($0) || separators.contains($0) } ?? text.count
            return replace(from: at, to: end)
        }
        guard nameEnd < text.count, text[nameEnd] == UInt8(ascii: "=") else { return }
        let start = nameEnd + 1
        let next = text[start...].firstIndex { Self.isEnd($0) || separators.contains($0) } ?? text.count
        if SecretName.isSecret(encoded: name) {
            // In a query, these two may be part of a value.
            let end =
                isInPath
                ? next : text[start...].firstIndex { Self.isEnd($0) || "&#".utf8.contains($0) } ?? text.count
            replace(from: start, to: end)
        } else if !isDecoded, text[start..<next].contains(where: { "%=".utf8.contains($0) }),
            Self.holdsSecret(text[start..<next], depth: depth)
        {
            replace(from: start, to: next)
        }
    }

    private static let querySeparators = Set("&;?#".utf8)
    private static let pathSeparators = Set("&;?#/,".utf8)

    private mutating func replace(from start: Int, to end: Int) {
        guard start < end, !text[start..<end].elementsEqual(SecretMark.bytes) else { return }
        output += text[at..<start]
        output += SecretMark.bytes
        drop(to: end)
    }
}
