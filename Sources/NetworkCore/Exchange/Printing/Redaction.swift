package import HTTPTypes

/// What of a request or a response may be printed: the one rule of every description, error, log line and curl command.
///
/// Header values are shown unless ``SecretFields``, the caller or the value itself says that they are secret. Of a URL,
/// scheme, host, port and path are shown, and never user, password, query and fragment. Bodies are shown by nothing.
/// Control characters are made visible, and what a peer or a caller supplies is cut at a length.
package struct Redaction: Sendable {
    /// What stands in place of a secret.
    var mark = "…"
    /// The caller's own secret fields.
    var secrets: Set<HTTPField.Name> = []

    package init(mark: String = "…", secrets: Set<HTTPField.Name> = []) {
        self.mark = mark
        self.secrets = secrets
    }

    /// The most bytes of one text from outside.
    package static let maximumBytes = 1024

    // MARK: Header fields

    /// The value of a header field as it may be shown.
    package func value(of field: HTTPField) -> String {
        if isHidden(field.name) || Self.namesCredentials(field.value.utf8) { return mark }
        return Self.holdsURL(field.name.canonicalName.utf8) ? url(field.value) : text(field.value, isField: true)
    }

    /// Whether a field's value is hidden altogether.
    func isHidden(_ name: HTTPField.Name) -> Bool {
        SecretFields.contains(name) || secrets.contains(name) || Self.unshown.contains(name.canonicalName)
    }

    /// Fields whose values belong to one client, and stay with a request all the same when a redirect leads elsewhere.
    static let unshown: Set<String> = ["idempotency-key", "last-event-id"]

    /// Whether a field, by its name in lower case, holds a URL or the end of one.
    static func holdsURL(_ name: some Collection<UInt8>) -> Bool {
        urlFields.contains { name.elementsEqual($0.utf8) }
    }

    private static let urlFields = ["location", "content-location", "referer", "link", "refresh", "sourcemap"]

    /// Whether a value is one of `Authorization`, whatever its field is called: a scheme, a blank, and more.
    static func namesCredentials(_ value: some Collection<UInt8>) -> Bool {
        let start = value.drop(while: isBlank)
        let scheme = start.prefix(longestScheme + 1).prefix { !isBlank($0) }
        guard schemes.contains(String(decoding: scheme, as: UTF8.self).lowercasedASCII) else { return false }
        return start.dropFirst(scheme.count).contains { !isBlank($0) }
    }

    /// What one reader or another takes for a blank: spaces, controls, and what is not ASCII, such as U+00A0.
    static func isBlank(_ byte: UInt8) -> Bool { byte <= 0x20 || byte >= 0x7F }

    private static let schemes: Set<String> = [
        "basic", "bearer", "digest", "dpop", "hawk", "hoba", "mutual", "negotiate", "ntlm", "oauth", "token",
        "aws4-hmac-sha256",
    ]
    private static let longestScheme = 16

    // MARK: Texts

    /// What a library below says, in which it may quote a header field, a user or a URL.
    /// - Parameter isWhole: Whether the library had room for all of it: else a user's name may have lost its `@`.
    package static func words(ofLibrary text: String, isWhole: Bool = true) -> String {
        let redaction = WireRedaction()
        return redaction.redacted(redaction.withoutUsers(text, isWhole: isWhole).utf8)
    }

    /// A text in which URLs may stand: their users, passwords, queries and fragments replaced, control characters
    /// visible, cut at a length.
    /// - Parameter isField: Whether it is the value of a header field, in which an `@` is as likely a mail's address.
    package func text(_ text: String, isField: Bool = false, limit: Int = maximumBytes) -> String {
        let start = Self.start(of: text)
        return self.text(start.text, isWhole: start.isWhole, count: text.utf8.count, isField: isField, limit: limit)
    }

    /// The same of the start of a text, whose last word may have been cut.
    /// - Parameter count: The bytes of all of it.
    func text(_ start: Substring, isWhole: Bool, count: Int, isField: Bool = false, limit: Int = maximumBytes) -> String
    {
        // Escaped first: only a space may end a word then, now and when what is shown is shown again.
        let bytes = Self.escaped(start)
        let escaped = isField ? bytes : QuotedUser(mark).hidden(in: bytes, isWhole: isWhole)
        let urls = URLRedaction(mark)
        var shown: [UInt8] = []
        var word = 0
        // No further than what is shown: a line may have thousands of words.
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

    /// A text that is a URL, or was meant to be one: what follows the path is replaced as a whole.
    package func url(_ text: String, limit: Int = maximumBytes) -> String {
        let start = Self.start(of: text)
        guard start.isWhole else { return mark }
        return Self.cut(URLRedaction(mark).whole(Self.escaped(start.text)), note: nil, limit: limit)
    }

    /// As much of a text as is looked at. Where a secret ends must be in it, or nothing is known of the last word.
    private static func start(of text: String) -> (text: Substring, isWhole: Bool) {
        let limit = RequestURL.maximumBytes
        if text.utf8.count <= limit { return (text[...], true) }
        return (Substring(decoding: text.utf8.prefix(limit), as: UTF8.self), false)
    }

    /// - Parameter note: How many bytes there were, where these are not all.
    private static func cut(_ bytes: [UInt8], note: Int?, limit: Int) -> String {
        guard note != nil || bytes.count > limit else { return String(decoding: bytes, as: UTF8.self) }
        let start = bytes.count > limit - noteBytes ? bytes[..<end(of: bytes, limit: limit)] : bytes[...]
        return String(decoding: start, as: UTF8.self) + "… (\(note ?? bytes.count) bytes)"
    }

    /// The most bytes of the note behind a text that was cut.
    private static let noteBytes = 32

    /// Where a text that is too long is cut; no character is cut in two.
    private static func end(of bytes: [UInt8], limit: Int) -> Int {
        var end = limit - noteBytes
        while bytes[end] & 0xC0 == 0x80 { end -= 1 }
        return end
    }

    /// Scheme, host and port of a URL; its path is hidden too. A server for DNS over HTTPS has its users' keys there.
    func origin(of text: String) -> String {
        guard let url = try? RequestURL(text) else { return mark }
        return "\(url.scheme)://\(url.authority)/\(mark)"
    }

    /// The start of what was meant to be a name, as far as it is a token: a value may have been written behind it.
    package static func token(_ name: String) -> String {
        let token = name.utf8.prefix(64).prefix { byte in
            (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte)
                || "!#$%&'*+-.^_`|~".utf8.contains(byte)
        }
        return String(decoding: token, as: UTF8.self) + (token.count < name.utf8.count ? "…" : "")
    }

    /// The text with control characters as `\u{1B}`, cut at a length. Applied twice it changes nothing more.
    package static func visible(_ text: String, limit: Int = maximumBytes) -> String {
        if text.utf8.count <= limit, text.utf8.allSatisfy({ (0x20...0x7E).contains($0) }) { return text }
        let bytes = escaped(text[...])
        guard bytes.count > limit else { return String(decoding: bytes, as: UTF8.self) }
        return String(decoding: bytes[..<end(of: bytes, limit: limit)], as: UTF8.self) + "… (\(text.utf8.count) bytes)"
    }

    /// The bytes of a text, control characters written out.
    private static func escaped(_ text: Substring) -> [UInt8] {
        if text.utf8.allSatisfy({ (0x20...0x7E).contains($0) }) { return Array(text.utf8) }
        return text.unicodeScalars.reduce(into: []) { bytes, scalar in
            if scalar.value < 0xA0 {
                bytes += escapes[Int(scalar.value)]
            } else {
                if isInvisible(scalar) { bytes += scalar.escaped(asASCII: true).utf8 } else { bytes += scalar.utf8 }
            }
        }
    }

    /// The first scalars as they are shown: a text may be nothing but controls.
    private static let escapes: [[UInt8]] = (UInt8(0)..<0xA0).map { value in
        let scalar = Unicode.Scalar(value)
        return isInvisible(scalar) ? Array(scalar.escaped(asASCII: true).utf8) : [value]
    }

    /// What a terminal or a log would act upon in place of showing it: controls, line separators, marks of direction.
    package static func isInvisible(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0..<0x20, 0x7F...0x9F, 0x061C, 0x200E, 0x200F, 0x2028...0x202E, 0x2066...0x2069, 0xFEFF,
            0xE0000...0xE007F:
            true
        default: false
        }
    }
}
