public import HTTPTypes

/// The header fields that never leave the origin they were meant for, and that no log shows.
///
/// One rule for redirects to another origin, ``LoggingInterceptor``, ``WireLog`` and curl commands: ``contains(_:)``. More
/// are named in ``NetworkClient/secretFields``. A redirect that has to take one along adds it by
/// ``RedirectPolicy/deciding(_:)``.
public enum SecretFields {
    /// Those that are secret in every request: Authorization, Cookie, Proxy-Authorization, X-Api-Key, what a server sets,
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

    /// Whether a field is secret: one of ``always``, or one whose name says so, by a part such as `token`, `secret`,
    /// `password`, `credential`, `api-key`, `signature` or `session`.
    public static func contains(_ name: HTTPField.Name) -> Bool {
        always.contains(name) || namesSecret(name.canonicalName.utf8)
    }

    /// The same for a name in lower case that may not be one.
    static func namesSecret(_ name: some Collection<UInt8>) -> Bool {
        words.contains { name.firstRange(of: $0.utf8) != nil }
    }

    private static let words = [
        "authorization", "cookie", "token", "secret", "password", "credential", "api-key", "apikey", "signature",
        "session",
    ]
}
