public import HTTPTypes

/// The header fields that never leave the origin they are meant for, and whose values are never printed.
///
/// One rule, ``contains(_:)``, applies to redirects to another origin, ``LoggingInterceptor``, ``WireLog``, curl
/// commands and descriptions. Add further fields to ``TransportOptions/secretFields``. A redirect that must carry one
/// of these fields adds it with ``RedirectPolicy/deciding(_:)``.
public enum SecretFields {
    /// The fields that are secret in every request: Authorization, Cookie, Set-Cookie, Proxy-Authorization, X-Api-Key,
    /// and the usual names for tokens.
    public static let always: Set<HTTPField.Name> = {
        var names: Set<HTTPField.Name> = [.authorization, .cookie, .setCookie, .proxyAuthorization]
        for text in [
            "X-Api-Key", "X-Auth-Token", "X-Access-Token", "X-Amz-Security-Token", "X-Goog-Iam-Authorization-Token",
        ] {
            if let name = HTTPField.Name(text) { names.insert(name) }
        }
        return names
    }()

    /// Returns whether a field is secret: one of ``always``, or a field whose name says so.
    ///
    /// A name says so if it contains a word such as `auth`, `token`, `secret`, `passw`, `credential`, `signature`,
    /// `assertion`, `session` or `cookie`; or if a part between hyphens, underscores and similar characters is a word
    /// such as `jwt`, `sign`, `sig` or `pin`, or ends in `key`. `Idempotency-Key`, `Sec-WebSocket-Key` and a few others
    /// are not secret.
    public static func contains(_ name: HTTPField.Name) -> Bool {
        always.contains(name) || namesSecret(name.canonicalName.utf8)
    }

    /// Does the same for a lowercase text that may not be a valid name. Reads each byte once, because the server
    /// controls the length.
    package static func namesSecret(_ name: some Collection<UInt8>) -> Bool {
        guard name.count >= shortest else { return false }
        let bytes = Array(name)
        return holdsSecretWord(bytes) && !harmless.contains(bytes)
    }

    private static func holdsSecretWord(_ name: [UInt8]) -> Bool {
        var word = 0
        for (index, byte) in name.enumerated() {
            if isStem(at: index, in: name) { return true }
            guard !byte.isLetterOrDigit else { continue }
            if isSecret(name[word..<index]) { return true }
            word = index + 1
        }
        return isSecret(name[word...])
    }

    private static func isSecret(_ word: ArraySlice<UInt8>) -> Bool {
        guard word.count >= shortest else { return false }
        if word.last == UInt8(ascii: "y"), word.suffix(3).elementsEqual("key".utf8) { return true }
        return word.count <= longestWord && words.contains(word)
    }

    private static func isStem(at index: Int, in name: [UInt8]) -> Bool {
        switch name[index] {
        case UInt8(ascii: "a"): isAuthentication(at: index, in: name) || holds(stems.a, at: index, in: name)
        case UInt8(ascii: "b"): holds(stems.b, at: index, in: name)
        case UInt8(ascii: "c"): holds(stems.c, at: index, in: name)
        case UInt8(ascii: "p"): holds(stems.p, at: index, in: name)
        case UInt8(ascii: "s"): holds(stems.s, at: index, in: name)
        case UInt8(ascii: "t"): holds(stems.t, at: index, in: name)
        default: false
        }
    }

    /// Whether `auth` is at an index, but not as part of `author` or `authority`.
    private static func isAuthentication(at index: Int, in name: [UInt8]) -> Bool {
        guard holds([auth], at: index, in: name) else { return false }
        guard holds([or], at: index + 4, in: name) else { return true }
        return holds(orization, at: index + 4, in: name)
    }

    private static func holds(_ texts: [[UInt8]], at index: Int, in name: [UInt8]) -> Bool {
        texts.contains { text in
            guard name.count - index >= text.count else { return false }
            var offset = 0
            while offset < text.count, name[index + offset] == text[offset] { offset += 1 }
            return offset == text.count
        }
    }

    private static func bytes(_ texts: String...) -> [[UInt8]] { texts.map { Array($0.utf8) } }

    private static let auth = Array("auth".utf8)
    private static let or = Array("or".utf8)
    private static let orization = bytes("oriz", "oris")
    /// The texts that mark a name as secret wherever they occur in it, by their first letter.
    private static let stems = (
        a: bytes("apikey", "assertion"), b: bytes("bearer"), c: bytes("cookie", "credential"),
        p: bytes("passw", "passphrase", "passcode"), s: bytes("secret", "signature", "session"), t: bytes("token")
    )
    /// The texts that mark a name as secret if they are a word of their own.
    private static let words = Set(
        bytes("jwt", "sign", "sig", "hmac", "pwd", "pass", "pin", "otp", "csrf", "xsrf", "saml", "sid", "dpop")
            .map { $0[...] })
    private static let shortest = 3
    private static let longestWord = 4
    /// The names that contain `key` but protect nothing.
    private static let harmless = Set(
        bytes(
            "idempotency-key", "sec-websocket-key", "surrogate-key", "public-key-pins", "public-key-pins-report-only"))
}
