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

    /// Does the same for a lowercase text that may not be a valid name. Reads each byte a few times at most, because
    /// the server controls the length.
    package static func namesSecret(_ name: some Collection<UInt8>) -> Bool {
        guard name.count >= shortest else { return false }
        let bytes = Array(name)
        let isSecret =
            bytes.indices.contains { isStem(at: bytes[$0...]) }
            || bytes.split(whereSeparator: { !$0.isLetterOrDigit }).contains { isSecretWord($0) }
        return isSecret && !harmless.contains(bytes)
    }

    private static func isSecretWord(_ word: ArraySlice<UInt8>) -> Bool {
        word.suffix(3).elementsEqual("key".utf8) || word.count <= longestWord && words.contains(word)
    }

    private static func isStem(at rest: ArraySlice<UInt8>) -> Bool {
        guard let first = rest.first, let stems = stems[first] else { return false }
        guard let stem = stems.first(where: { rest.starts(with: $0) }) else { return false }
        // Not `author` and `authority`.
        let more = rest.dropFirst(stem.count)
        return stem != auth || !more.starts(with: "or".utf8) || more.starts(with: "oriz".utf8)
            || more.starts(with: "oris".utf8)
    }

    private static func bytes(_ texts: String...) -> [[UInt8]] { texts.map { Array($0.utf8) } }

    private static let auth = Array("auth".utf8)
    /// The texts that mark a name as secret wherever they occur in it, by their first letter.
    private static let stems = Dictionary(
        grouping: bytes(
            "auth", "apikey", "assertion", "bearer", "cookie", "credential", "passw", "passphrase", "passcode",
            "secret", "signature", "session", "token"
        ), by: { $0[0] })
    private static let words = Set(
        bytes("jwt", "sign", "sig", "hmac", "pwd", "pass", "pin", "otp", "csrf", "xsrf", "saml", "sid", "dpop")
            .map { $0[...] })
    private static let shortest = 3
    private static let longestWord = 4
    private static let harmless = Set(
        bytes(
            "idempotency-key", "sec-websocket-key", "surrogate-key", "public-key-pins", "public-key-pins-report-only"))
}
