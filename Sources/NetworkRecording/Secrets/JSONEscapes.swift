import NetworkCore

/// The escapes in a string of JSON (RFC 8259 §7).
enum JSONEscapes {
    /// Returns the text of a string, as it is between its quotes. What is no escape stays as it is.
    static func decoded(_ text: ArraySlice<UInt8>) -> [UInt8] {
        guard text.contains(UInt8(ascii: "\\")) else { return Array(text) }
        var (output, rest) = ([UInt8](), text)
        output.reserveCapacity(text.count)
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "\\"), let kind = rest.first else {
                output.append(byte)
                continue
            }
            if let plain = plain[kind] {
                output.append(plain)
                rest = rest.dropFirst()
            } else if kind == UInt8(ascii: "u"), let scalar = scalar(&rest) {
                output += UTF8.encode(scalar).map { Array($0) } ?? []
            } else {
                output.append(byte)
            }
        }
        return output
    }

    /// Returns a string with its quotes.
    static func encoded(_ text: [UInt8]) -> [UInt8] { JSONValue.string(String(decoding: text, as: UTF8.self)).line }

    private static let plain = Dictionary(
        uniqueKeysWithValues: zip("\"\\/bfnrt".utf8, "\"\\/\u{8}\u{C}\n\r\t".utf8))

    /// Reads `u` and four digits, twice for a character outside the Basic Multilingual Plane. Half of one is U+FFFD.
    private static func scalar(_ rest: inout ArraySlice<UInt8>) -> Unicode.Scalar? {
        guard let high = unit(rest) else { return nil }
        rest = rest.dropFirst(5)
        guard UTF16.isLeadSurrogate(high) else { return Unicode.Scalar(high) ?? "\u{FFFD}" }
        guard rest.first == UInt8(ascii: "\\"), let low = unit(rest.dropFirst()), UTF16.isTrailSurrogate(low) else {
            return "\u{FFFD}"
        }
        rest = rest.dropFirst(6)
        return UTF16.decode(UTF16.EncodedScalar([high, low]))
    }

    private static func unit(_ text: ArraySlice<UInt8>) -> UInt16? {
        let digits = text.prefix(5).dropFirst().compactMap(SecretName.digit)
        guard text.first == UInt8(ascii: "u"), digits.count == 4 else { return nil }
        return digits.reduce(0) { $0 << 4 | UInt16($1) }
    }
}
