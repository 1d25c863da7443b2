/// How TLS is spoken on a connection.
struct TLSSession: Sendable, Hashable {
    /// `1.2`, `1.3`.
    let version: String?
    /// The suite, as the TLS library calls it.
    let cipher: String?

    /// - Parameter protocolName: As libraries have it: `TLSv1.3`, `TLS1.3`, and `TLSv1` for 1.0.
    init(protocolName: String?, cipher: String?) {
        let number = protocolName.map { $0.drop { !$0.isNumber } }
        version = number.flatMap { $0.isEmpty ? nil : $0.contains(".") ? String($0) : "\($0).0" }
        self.cipher = cipher
    }
}
