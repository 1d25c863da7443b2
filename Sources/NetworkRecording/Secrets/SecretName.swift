import NetworkCore

/// Whether the name of a parameter, a form field or a JSON member says that its value is secret.
enum SecretName {
    /// Returns whether a name, in any case, is secret by the rule of ``SecretFields``.
    static func isSecret(_ name: some Collection<UInt8>) -> Bool {
        SecretFields.namesSecret(name.map { (0x41...0x5A).contains($0) ? $0 | 0x20 : $0 })
    }

    /// Returns whether a percent-encoded name is secret.
    static func isSecret(encoded name: some Collection<UInt8>) -> Bool { isSecret(decoded(name)) }

    /// Returns the bytes that remain when no escape is left to decode, however often the text was encoded.
    static func decoded(_ text: some Collection<UInt8>) -> [UInt8] {
        guard text.contains(UInt8(ascii: "%")) else { return Array(text) }
        var output: [UInt8] = []
        output.reserveCapacity(text.count)
        for byte in text {
            output.append(byte)
            // A decoded byte may complete another escape.
            while output.count > 2, output[output.count - 3] == UInt8(ascii: "%"),
                let high = digit(output[output.count - 2]), let low = digit(output[output.count - 1])
            {
                output.removeLast(3)
                output.append(high << 4 | low)
            }
        }
        return output
    }

    private static func digit(_ byte: UInt8) -> UInt8? {
        Character(Unicode.Scalar(byte)).hexDigitValue.map { UInt8($0) }
    }
}

extension UInt8 {
    /// Whether the byte is a letter or a digit of ASCII.
    var isAlphanumeric: Bool {
        switch self {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
        default: false
        }
    }
}

/// What stands in a recording for a secret that was left out.
///
/// The text is a token (RFC 9110 §5.6.2): a client that replays a response sends it as the password or the token that
/// it has found there.
enum SecretMark {
    static let text = "REDACTED"
    static let bytes = Array(text.utf8)
    /// The mark as a JSON text.
    static let json = Array("\"\(text)\"".utf8)
}
