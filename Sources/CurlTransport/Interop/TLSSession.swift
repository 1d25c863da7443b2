/// The TLS parameters of a connection, in the TLS library's words.
struct TLSSession: Sendable {
    /// The protocol's name, such as `TLSv1.3` or `TLS1.3`.
    let protocolName: ConstantText?
    /// The cipher suite's name.
    let cipherName: ConstantText?

    /// The protocol's version, such as `1.2` or `1.3`.
    var version: String? { protocolName.flatMap { Self.version(in: $0.string) } }

    /// The cipher suite, as the TLS library calls it.
    var cipher: String? { cipherName?.string }

    /// - Parameter name: A name as TLS libraries spell it: `TLSv1.3`, `TLS1.3`, and `TLSv1` for 1.0.
    static func version(in name: String) -> String? {
        let number = name.drop { !$0.isNumber }
        return number.isEmpty ? nil : number.contains(".") ? String(number) : "\(number).0"
    }
}
