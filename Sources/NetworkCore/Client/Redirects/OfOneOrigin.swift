import HTTPTypes

/// The parts of a request that are meant for one origin, and wrong or too much at any other: secrets, and the fields
/// that name the origin, and the socket at which it is. A redirect leaves them behind, and a client sends them only to
/// the origin of its base URL.
enum OfOneOrigin {
    /// The fields that name where a request comes from or goes to.
    private static let places: Set<String> = ["host", "referer"]

    /// Whether a header field is meant for one origin.
    /// - Parameter own: The secret fields in addition to ``SecretFields``.
    static func contains(_ name: HTTPField.Name, besides own: Set<HTTPField.Name>) -> Bool {
        SecretFields.contains(name) || own.contains(name) || places.contains(name.canonicalName)
    }

    /// Whether options have credentials.
    static func hasCredentials(_ options: TransportOptions) -> Bool {
        options.hasRareOptions && (options.authentication != nil || options.tls.clientCertificate != nil)
    }

    /// Removes what is meant for one origin from the options. The user and password of a URL carry their own origin.
    static func remove(from options: inout TransportOptions) {
        guard options.hasRareOptions else { return }
        options.authentication = nil
        options.tls.clientCertificate = nil
        options.tls.serverName = nil
        options.connection.unixSocket = nil
    }
}
