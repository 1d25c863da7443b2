/// Percent-encoding as in RFC 3986, and as HTML forms use it.
package enum PercentEncoding {
    private static let digits = Array("0123456789ABCDEF".utf8)

    static func encoded(_ byte: UInt8) -> [UInt8] {
        [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
    }

    /// Encodes a name or value of a query. Only unreserved characters stay; `+`, `&` and spaces are encoded too.
    static func component(_ text: String) -> String { component(text.utf8) }

    static func component(_ bytes: some Sequence<UInt8>) -> String {
        encode(bytes) { $0.isLetterOrDigit || "-._~".utf8.contains($0) }
    }

    /// Encodes a name or value of `application/x-www-form-urlencoded`, by the WHATWG URL standard: a space becomes `+`.
    static func formComponent(_ text: String) -> String {
        encode(text.utf8, space: UInt8(ascii: "+")) { $0.isLetterOrDigit || "-._*".utf8.contains($0) }
    }

    /// Returns the decoded text, or `nil` if a `%` is not followed by two hexadecimal digits or the bytes are not
    /// UTF-8.
    package static func decoded(_ text: some StringProtocol) -> String? {
        decoded(text.utf8, isLenient: false).flatMap { String(validating: $0, as: UTF8.self) }
    }

    /// Returns the decoded bytes. A `%` that is not followed by two hexadecimal digits stays.
    static func decodedLeniently(_ text: some Collection<UInt8>) -> [UInt8] { decoded(text, isLenient: true) ?? [] }

    private static func decoded(_ text: some Collection<UInt8>, isLenient: Bool) -> [UInt8]? {
        var (output, rest) = ([UInt8](), text[...])
        while let byte = rest.popFirst() {
            let digits = byte == UInt8(ascii: "%") ? rest.prefix(2).compactMap(\.hexDigit) : []
            if digits.count == 2 {
                output.append(digits[0] << 4 | digits[1])
                rest = rest.dropFirst(2)
            } else if isLenient || byte != UInt8(ascii: "%") {
                output.append(byte)
            } else {
                return nil
            }
        }
        return output
    }

    /// Returns the bytes that remain when no escape is left to decode, however often the text was encoded.
    static func decodedWholly(_ text: Substring.UTF8View) -> [UInt8] {
        var output: [UInt8] = []
        for byte in text {
            output.append(byte)
            // A decoded byte may complete another escape.
            while output.count > 2, output[output.count - 3] == UInt8(ascii: "%"),
                let high = output[output.count - 2].hexDigit, let low = output[output.count - 1].hexDigit
            {
                output.replaceSubrange((output.count - 3)..., with: CollectionOfOne(high << 4 | low))
            }
        }
        return output
    }

    private static func encode(
        _ text: some Sequence<UInt8>, space: UInt8? = nil, plain isPlain: (UInt8) -> Bool
    ) -> String {
        var output: [UInt8] = []
        output.reserveCapacity(text.underestimatedCount)
        for byte in text {
            if isPlain(byte) {
                output.append(byte)
            } else if let space, byte == UInt8(ascii: " ") {
                output.append(space)
            } else {
                output += encoded(byte)
            }
        }
        return String(decoding: output, as: UTF8.self)
    }
}
