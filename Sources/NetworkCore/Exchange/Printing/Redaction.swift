package import HTTPTypes

/// The parts of a request or a response that may be printed: one rule for every description, error, log line and curl
/// command.
///
/// Values of header fields are shown unless ``SecretFields``, the caller or the value itself marks them as secret. Of a
/// URL, scheme, host, port and path are shown; user, password, query and fragment never are. Bodies are never shown.
/// Control characters are made visible, and texts from a peer or a caller are cut at a maximum length.
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

    /// Returns the printable form of a header field's value.
    package func value(of field: HTTPField) -> String {
        if isHidden(field.name) || Self.namesCredentials(field.value.utf8) { return mark }
        return Self.holdsURL(field.name.canonicalName.utf8) ? url(field.value) : text(field.value, isField: true)
    }

    /// Whether the whole value of a field is hidden.
    package func isHidden(_ name: HTTPField.Name) -> Bool {
        SecretFields.contains(name) || secrets.contains(name) || Self.unshown.contains(name.canonicalName)
    }

    /// Fields whose values identify one client, but which a redirect to another origin keeps.
    static let unshown: Set<String> = ["idempotency-key", "last-event-id"]

    /// Whether a field, by its lowercase name, contains a URL or the end of one.
    static func holdsURL(_ name: some Collection<UInt8>) -> Bool {
        urlFields.contains { name.elementsEqual($0.utf8) }
    }

    private static let urlFields = ["location", "content-location", "referer", "link", "refresh", "sourcemap"]

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

    /// Returns the printable form of a message from the library below, which may quote a header field, a user or a URL.
    /// - Parameter isWhole: Whether the message was not cut. A cut message may have lost the `@` after a user's name.
    package static func words(ofLibrary text: String, isWhole: Bool = true) -> String {
        let redaction = WireRedaction()
        return redaction.redacted(redaction.withoutUsers(text, isWhole: isWhole).utf8)
    }

    /// Returns the printable form of a text that may contain URLs: without users, passwords, queries and fragments,
    /// with control characters visible, and cut at a maximum length.
    /// - Parameter isField: Whether the text is the value of a header field, in which an `@` may well belong to an
    ///   email address.
    package func text(_ text: String, isField: Bool = false, limit: Int = maximumBytes) -> String {
        let start = Self.start(of: text)
        return self.text(start.text, isWhole: start.isWhole, count: text.utf8.count, isField: isField, limit: limit)
    }

    /// Does the same for the start of a text, whose last word may have been cut.
    /// - Parameter count: The length of the whole text, in bytes.
    func text(_ start: Substring, isWhole: Bool, count: Int, isField: Bool = false, limit: Int = maximumBytes) -> String
    {
        // Escaped first, so that only a space ends a word, now and when the output is redacted again.
        let bytes = Self.escaped(start)
        let escaped = isField ? bytes : QuotedUser(mark).hidden(in: bytes, isWhole: isWhole)
        let urls = URLRedaction(mark)
        var shown: [UInt8] = []
        var word = 0
        // Only as far as needed for the output: a line may have thousands of words.
        while shown.count <= limit {
            let end = escaped[word...].firstIndex(of: 0x20) ?? escaped.endIndex
            let isLast = end == escaped.endIndex
            if isLast, !isWhole { break }
            if word > 0 { shown.append(0x20) }
            shown += urls.word(Array(escaped[word..<end]))
            if isLast { return Self.cut(shown, note: nil, limit: limit) }
            word = end + 1
        }
        return Self.cut(shown, note: count, limit: limit)
    }

    /// Returns the printable form of a text that is meant to be a URL. Everything after the path is replaced as a
    /// whole.
    package func url(_ text: String, limit: Int = maximumBytes) -> String {
        let start = Self.start(of: text)
        guard start.isWhole else { return mark }
        return Self.cut(URLRedaction(mark).whole(Self.escaped(start.text)), note: nil, limit: limit)
    }

    /// Returns the part of a text that is examined. If the end of a secret is not in it, nothing is known about the
    /// last word.
    private static func start(of text: String) -> (text: Substring, isWhole: Bool) {
        let limit = RequestURL.maximumBytes
        if text.utf8.count <= limit { return (text[...], true) }
        return (Substring(decoding: text.utf8.prefix(limit), as: UTF8.self), false)
    }

    /// - Parameter note: The length of the whole text in bytes, if the given bytes are only a part of it.
    private static func cut(_ bytes: [UInt8], note: Int?, limit: Int) -> String {
        guard note != nil || bytes.count > limit else { return String(decoding: bytes, as: UTF8.self) }
        let start = bytes.count > limit - noteBytes ? bytes[..<end(of: bytes, limit: limit)] : bytes[...]
        return String(decoding: start, as: UTF8.self) + "… (\(note ?? bytes.count) bytes)"
    }

    /// The maximum length of the note after a cut text, in bytes.
    private static let noteBytes = 32

    /// Returns the place to cut a text that is too long, without splitting a character.
    private static func end(of bytes: [UInt8], limit: Int) -> Int {
        var end = limit - noteBytes
        while bytes[end] & 0xC0 == 0x80 { end -= 1 }
        return end
    }

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

    /// Returns the text with control characters written as `\u{1B}`, cut at a maximum length. Applying it twice changes
    /// nothing more.
    package static func visible(_ text: String, limit: Int = maximumBytes) -> String {
        if text.utf8.count <= limit, text.utf8.allSatisfy({ (0x20...0x7E).contains($0) }) { return text }
        let bytes = escaped(text[...])
        guard bytes.count > limit else { return String(decoding: bytes, as: UTF8.self) }
        return String(decoding: bytes[..<end(of: bytes, limit: limit)], as: UTF8.self) + "… (\(text.utf8.count) bytes)"
    }

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
