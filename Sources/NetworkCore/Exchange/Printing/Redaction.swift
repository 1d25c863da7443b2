import FoundationEssentials
package import HTTPTypes

/// The parts of a request or a response that may be printed: one rule for every description, error, log line and curl
/// command.
package struct Redaction: Sendable {
    /// The replacement for a secret.
    var mark = "…"
    /// The secret header fields that the caller named.
    var secrets: Set<HTTPField.Name> = []

    package init(mark: String = "…", secrets: Set<HTTPField.Name> = []) {
        self.mark = mark
        self.secrets = secrets
    }

    /// The maximum length of one text from outside, in bytes.
    package static let maximumBytes = 1024

    // MARK: Header fields

    package func value(of field: HTTPField) -> String { value(field.value, of: field.name) }

    /// Does the same for a value as it was received, with a limit on its length.
    func value(_ value: String, of name: HTTPField.Name, limit: Int = maximumBytes) -> String {
        if isHidden(name) || Self.namesCredentials(value.utf8) { return mark }
        let holdsURL = Self.urlFields.contains(name.canonicalName)
        return holdsURL ? url(value, limit: limit) : text(value, isField: true, limit: limit)
    }

    package func isHidden(_ name: HTTPField.Name) -> Bool {
        SecretFields.contains(name) || secrets.contains(name) || Self.unshown.contains(name.canonicalName)
    }

    /// Fields whose values identify one client, but which a redirect to another origin keeps.
    static let unshown: Set<String> = ["idempotency-key", "last-event-id"]

    /// The fields that contain a URL or the end of one.
    private static let urlFields: Set<String> = [
        "location", "content-location", "referer", "link", "refresh", "sourcemap",
    ]

    /// Whether a value looks like that of `Authorization`, whatever the field's name: a scheme, a blank and more.
    package static func namesCredentials(_ value: some Collection<UInt8>) -> Bool {
        let start = value.drop(while: isBlank)
        let scheme = start.prefix(longestScheme + 1).prefix { !isBlank($0) }
        guard schemes.contains(String(decoding: scheme, as: UTF8.self).lowercasedASCII) else { return false }
        return start.dropFirst(scheme.count).contains { !isBlank($0) }
    }

    /// Whether any reader may treat a byte as a blank: spaces, controls, and bytes outside ASCII, as in U+00A0.
    static func isBlank(_ byte: UInt8) -> Bool { byte <= 0x20 || byte >= 0x7F }

    private static let schemes: Set<String> = [
        "basic", "bearer", "digest", "dpop", "hawk", "hoba", "mutual", "negotiate", "ntlm", "oauth", "token",
        "aws4-hmac-sha256",
    ]
    private static let longestScheme = 16

    // MARK: Texts

    /// Returns the printable form of a text that may contain URLs: without users, passwords, queries and fragments,
    /// with control characters visible, and cut at a maximum length.
    package func text(
        _ text: String, isField: Bool = false, wasCut: Bool = false, limit: Int = maximumBytes
    ) -> String {
        let length = text.utf8.count
        // Escaped first, so that only a space ends a word, now and when the output is redacted again.
        var bytes = Self.escaped(Substring(decoding: text.utf8.prefix(limit), as: UTF8.self))[...]
        var end: [UInt8] = []
        if length > limit || bytes.count > limit {
            // The end of the last word is not known.
            end = Array("… (\(length) bytes)".utf8)
            bytes = bytes.prefix(limit - end.count)
            bytes = bytes[..<(bytes.lastIndex(of: 0x20) ?? 0)]
        }
        if !isField, wasCut || text.utf8.contains(UInt8(ascii: "@")), let user = Self.startOfUser(in: bytes) {
            let last = end.isEmpty && !wasCut ? bytes.lastIndex(of: UInt8(ascii: "@")) ?? 0 : bytes.endIndex
            if user < last { (bytes, end) = (bytes[..<user], Array(mark.utf8)) }
        }
        let words = bytes.split(separator: 0x20, omittingEmptySubsequences: false).map { word($0) }
        return String(decoding: Array(words.joined(separator: [0x20])) + end, as: UTF8.self)
    }

    /// Returns the printable form of a text that is meant to be a URL.
    package func url(_ text: String, limit: Int = maximumBytes) -> String {
        guard text.utf8.count <= RequestURL.maximumBytes else { return mark }
        return Self.cut(urlBytes(Self.escaped(text[...])[...]), limit: limit)
    }

    /// Returns where a user and a password may begin: after the first `//`, after the first opening quote, or at the
    /// first word with a colon in it.
    private static func startOfUser(in text: ArraySlice<UInt8>) -> Int? {
        var (word, last) = (text.startIndex, UInt8(ascii: " "))
        for (index, byte) in zip(text.indices, text) {
            if byte == UInt8(ascii: "/"), last == byte { return index + 1 }
            if quotes.contains(byte), openers.contains(last) { return index + 1 }
            if last == UInt8(ascii: ":"), byte > 0x20, byte != UInt8(ascii: "/"), index > word + 1 { return word }
            if byte <= 0x20 { word = index + 1 }
            last = byte
        }
        return nil
    }

    private static let quotes = Array("'\"`".utf8)
    /// The bytes after which a quote opens a quotation. Within a word it is an apostrophe.
    private static let openers = Array(" \t\n=:([{<,".utf8)

    private static func cut(_ bytes: [UInt8], limit: Int, of count: Int? = nil) -> String {
        guard bytes.count > limit else { return String(decoding: bytes, as: UTF8.self) }
        // Without splitting a character.
        var end = limit - noteBytes
        while bytes[end] & 0xC0 == 0x80 { end -= 1 }
        return String(decoding: bytes[..<end], as: UTF8.self) + "… (\(count ?? bytes.count) bytes)"
    }

    /// The maximum length of the note after a cut text, in bytes.
    private static let noteBytes = 32

    /// Returns scheme, host and port of a URL and hides its path too: DNS over HTTPS servers have users' keys there.
    func origin(of text: String) -> String {
        guard let url = try? RequestURL(text) else { return mark }
        return "\(url.scheme)://\(url.authority)/\(mark)"
    }

    /// Returns the start of an intended name, as far as it is a token: a value may have been written after it.
    package static func token(_ name: String) -> String {
        let token = name.utf8.prefix(64).prefix(while: \.isOfToken)
        return String(decoding: token, as: UTF8.self) + (token.count < name.utf8.count ? "…" : "")
    }

    /// Returns the text with control characters written as `\u{1B}`, cut at a maximum length.
    package static func visible(_ text: String, limit: Int = maximumBytes) -> String {
        if text.utf8.count <= limit, text.utf8.allSatisfy({ (0x20...0x7E).contains($0) }) { return text }
        return cut(escaped(text[...]), limit: limit, of: text.utf8.count)
    }

    /// Returns the first 512 bytes of a body as text, in which bytes that are not UTF-8 are replaced, and its length.
    static func excerpt(of body: Data) -> String {
        let start = visible(String(decoding: body.prefix(excerptBytes), as: UTF8.self), limit: .max)
        return body.count > excerptBytes ? start + "… (\(body.count) bytes)" : start
    }

    static let excerptBytes = 512

    /// Returns the bytes of a text with control characters escaped.
    private static func escaped(_ text: Substring) -> [UInt8] {
        if text.utf8.allSatisfy({ (0x20...0x7E).contains($0) }) { return Array(text.utf8) }
        return text.unicodeScalars.reduce(into: []) { bytes, scalar in
            if scalar.value < 0xA0 {
                bytes += escapes[Int(scalar.value)]
            } else {
                if scalar.isInvisible { bytes += scalar.escaped(asASCII: true).utf8 } else { bytes += scalar.utf8 }
            }
        }
    }

    /// The output for each of the first scalars, precomputed: a text may consist of nothing but control characters.
    private static let escapes: [[UInt8]] = (UInt8(0)..<0xA0).map { value in
        let scalar = Unicode.Scalar(value)
        return scalar.isInvisible ? Array(scalar.escaped(asASCII: true).utf8) : [value]
    }
}
