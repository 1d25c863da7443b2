/// How TLS is spoken on a connection, in the TLS library's words.
struct TLSSession: Sendable {
    /// `TLSv1.3`, `TLS1.3`.
    let protocolName: ConstantText?
    /// The suite.
    let cipherName: ConstantText?

    /// `1.2`, `1.3`.
    var version: String? { protocolName.flatMap { Self.version(in: $0.string) } }

    /// The suite, as the TLS library calls it.
    var cipher: String? { cipherName?.string }

    /// - Parameter name: As libraries have it: `TLSv1.3`, `TLS1.3`, and `TLSv1` for 1.0.
    static func version(in name: String) -> String? {
        let number = name.drop { !$0.isNumber }
        return number.isEmpty ? nil : number.contains(".") ? String(number) : "\(number).0"
    }
}
