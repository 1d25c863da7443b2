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
        if isHidden(field.name) || Self.namesCredentials(field.value) { return mark }
        return Self.holdsURL(field.name.canonicalName.utf8) ? url(field.value) : text(field.value)
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

    /// Whether a value is one of `Authorization`, whatever its field is called.
    static func namesCredentials(_ value: some StringProtocol) -> Bool {
        let words = value.split(separator: " ", maxSplits: 1, omittingEmptySubsequences: true)
        return words.count > 1 && schemes.contains(words[0].lowercased())
    }

    private static let schemes: Set<String> = [
        "basic", "bearer", "digest", "dpop", "hawk", "hoba", "mutual", "negotiate", "ntlm", "oauth", "token",
        "aws4-hmac-sha256",
    ]

    // MARK: Texts

    /// A text in which URLs may stand: their users, passwords, queries and fragments replaced, control characters
    /// visible,
    /// cut at a length.
    package func text(_ text: String, limit: Int = maximumBytes) -> String {
        let start = Self.start(of: text)
        // Escaped first: only a space may end a word then, now and when what is shown is shown again.
        let words = Self.escaped(start.text).split(separator: 0x20, omittingEmptySubsequences: false)
        let shown = (start.isWhole ? words[...] : words.dropLast()).map { URLRedaction(mark).word(Array($0)) }
        return Self.cut(shown.joined(separator: [0x20]), note: start.isWhole ? nil : text.utf8.count, limit: limit)
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

    private static func cut(_ bytes: some Sequence<UInt8>, note: Int?, limit: Int) -> String {
        let shown = visible(String(decoding: Array(bytes), as: UTF8.self), limit: limit)
        return note.map { shown.hasSuffix(" bytes)") ? shown : "\(shown)… (\($0) bytes)" } ?? shown
    }

    /// Scheme, host and port of a URL; its path is hidden too. A server for DNS over HTTPS has its users' keys there.
    func origin(of text: String) -> String {
        guard let url = try? RequestURL(text) else { return mark }
        return "\(url.scheme)://\(url.authority)/\(mark)"
    }

    /// The start of what was meant to be a name, as far as it is a token: a value may have been written behind it.
    static func token(_ name: String) -> String {
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
        // The note has at most 32 bytes, and no character is cut in two.
        var end = limit - 32
        while bytes[end] & 0xC0 == 0x80 { end -= 1 }
        return String(decoding: bytes[..<end], as: UTF8.self) + "… (\(text.utf8.count) bytes)"
    }

    /// The bytes of a text, control characters written out.
    private static func escaped(_ text: Substring) -> [UInt8] {
        if text.utf8.allSatisfy({ (0x20...0x7E).contains($0) }) { return Array(text.utf8) }
        return text.unicodeScalars.reduce(into: []) { bytes, scalar in
            if isInvisible(scalar) { bytes += scalar.escaped(asASCII: true).utf8 } else { bytes += String(scalar).utf8 }
        }
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
