import HTTPTypes

/// What is meant for one origin and wrong or too much at any other: secrets, and what names the origin. A redirect
/// leaves it behind, and a client keeps it for the origin of its base URL.
enum OfOneOrigin {
    /// What says where a request comes from or goes to.
    private static let places: Set<String> = ["host", "referer"]

    /// Whether a header field is.
    /// - Parameter own: The secret fields besides ``SecretFields``.
    static func contains(_ name: HTTPField.Name, besides own: Set<HTTPField.Name>) -> Bool {
        SecretFields.contains(name) || own.contains(name) || places.contains(name.canonicalName)
    }

    /// Takes it out of the options. User and password of a URL know their origin by themselves.
    static func remove(from options: inout TransportOptions) {
        guard options.hasRareOptions else { return }
        options.authentication = nil
        options.tls.clientCertificate = nil
        options.tls.serverName = nil
    }
}
