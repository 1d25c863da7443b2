/// Percent-encoding: that of RFC 3986, and that of forms.
enum PercentEncoding {
    private static let digits = Array("0123456789ABCDEF".utf8)

    /// `%` and two digits.
    static func encoded(_ byte: UInt8) -> [UInt8] {
        [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
    }

    /// A query's name or value: everything but the unreserved characters is encoded, `+` and `&` and space included.
    static func component(_ text: String) -> String {
        encode(text) { $0.isLetterOrDigit || "-._~".utf8.contains($0) }
    }

    /// A name or value of `application/x-www-form-urlencoded`, as the URL standard of the WHATWG has it: a space is `+`.
    static func formComponent(_ text: String) -> String {
        encode(text, space: UInt8(ascii: "+")) { $0.isLetterOrDigit || "-._*".utf8.contains($0) }
    }

    /// The text that was percent-encoded; `nil` where a `%` has no two hexadecimal digits or the bytes are not UTF-8.
    static func decoded(_ text: some StringProtocol) -> String? {
        var output: [UInt8] = []
        var rest = text.utf8[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                output.append(byte)
                continue
            }
            let digits = rest.prefix(2).compactMap { Character(Unicode.Scalar($0)).hexDigitValue }
            guard digits.count == 2 else { return nil }
            output.append(UInt8(digits[0] * 16 + digits[1]))
            rest = rest.dropFirst(2)
        }
        return String(validating: output, as: UTF8.self)
    }

    private static func encode(_ text: String, space: UInt8? = nil, plain isPlain: (UInt8) -> Bool) -> String {
        var output: [UInt8] = []
        output.reserveCapacity(text.utf8.count)
        for byte in text.utf8 {
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

extension UInt8 {
    fileprivate var isLetterOrDigit: Bool {
        (0x30...0x39).contains(self) || (0x41...0x5A).contains(self) || (0x61...0x7A).contains(self)
    }
}
