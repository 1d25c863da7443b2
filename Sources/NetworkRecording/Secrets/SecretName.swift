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

    /// The value of a hexadecimal digit.
    static func digit(_ byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
        case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
        case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
        default: nil
        }
    }
}
