public import HTTPTypes

/// The header fields that never leave the origin they were meant for, and whose values nothing prints.
///
/// One rule for redirects to another origin, ``LoggingInterceptor``, ``WireLog``, curl commands and descriptions:
/// ``contains(_:)``. More are named in ``TransportOptions/secretFields``. A redirect that has to take one along adds
/// it by
/// ``RedirectPolicy/deciding(_:)``.
public enum SecretFields {
    /// Those that are secret in every request: Authorization, Cookie, Proxy-Authorization, X-Api-Key, what a server
    /// sets,
    /// and the usual names of tokens.
    public static let always: Set<HTTPField.Name> = {
        var names: Set<HTTPField.Name> = [.authorization, .cookie, .setCookie, .proxyAuthorization]
        for text in [
            "X-Api-Key", "X-Auth-Token", "X-Access-Token", "X-Amz-Security-Token", "X-Goog-Iam-Authorization-Token",
        ] {
            if let name = HTTPField.Name(text) { names.insert(name) }
        }
        return names
    }()

    /// Whether a field is secret: one of ``always``, or one whose name says so.
    ///
    /// A name says so by what it contains, such as `auth`, `token`, `secret`, `passw`, `credential`, `signature`,
    /// `assertion`, `session` or `cookie`; or by a word between its hyphens and underscores, which is `jwt`, `sign`,
    /// `sig`
    /// or `pin`, or ends in `key`. `Idempotency-Key`, `Sec-WebSocket-Key` and a few others are no secrets.
    public static func contains(_ name: HTTPField.Name) -> Bool {
        always.contains(name) || namesSecret(name.canonicalName.utf8)
    }

    /// The same for a name in lower case that may not be one.
    static func namesSecret(_ name: some Collection<UInt8>) -> Bool {
        if stems.contains(where: { name.firstRange(of: $0.utf8) != nil }) || namesAuthentication(name) {
            return !harmless.contains { name.elementsEqual($0.utf8) }
        }
        let separators = "-_".utf8
        let words = name.split { separators.contains($0) }
        guard words.contains(where: { isSecret(word: Array($0)) }) else { return false }
        return !harmless.contains { name.elementsEqual($0.utf8) }
    }

    private static func isSecret(word: [UInt8]) -> Bool {
        word.reversed().starts(with: "yek".utf8) || words.contains { word.elementsEqual($0.utf8) }
    }

    /// `auth` in any place, but for `author` and `authority`.
    private static func namesAuthentication(_ name: some Collection<UInt8>) -> Bool {
        let bytes = Array(name)
        for start in bytes.indices where bytes[start...].starts(with: "auth".utf8) {
            let rest = bytes[(start + 4)...]
            if !rest.starts(with: "or".utf8) || rest.starts(with: "oriz".utf8) || rest.starts(with: "oris".utf8) {
                return true
            }
        }
        return false
    }

    /// What says secret wherever it stands in a name.
    private static let stems = [
        "cookie", "token", "secret", "passw", "passphrase", "passcode", "credential", "apikey", "signature", "session",
        "assertion", "bearer",
    ]
    /// What says so as a word of its own.
    private static let words = [
        "jwt", "sign", "sig", "hmac", "pwd", "pass", "pin", "otp", "csrf", "xsrf", "saml", "sid",
    ]
    /// What is called a key and opens nothing.
    private static let harmless = [
        "idempotency-key", "sec-websocket-key", "surrogate-key", "public-key-pins", "public-key-pins-report-only",
    ]
}
