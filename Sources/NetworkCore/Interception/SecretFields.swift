public import HTTPTypes

/// The header fields that never leave the origin they were meant for, and that no log shows.
public enum SecretFields {
    /// Those that are secret in every request: Authorization, Cookie, Proxy-Authorization, X-Api-Key, and what a server
    /// sets. More are named in ``NetworkClient/secretFields``.
    public static let always: Set<HTTPField.Name> = {
        var names: Set<HTTPField.Name> = [.authorization, .cookie, .setCookie, .proxyAuthorization]
        if let key = HTTPField.Name("X-Api-Key") { names.insert(key) }
        return names
    }()
}
