/// Percent-encoding: that of RFC 3986, and that of forms.
package enum PercentEncoding {
    private static let digits = Array("0123456789ABCDEF".utf8)

    /// `%` and two digits.
    static func encoded(_ byte: UInt8) -> [UInt8] {
        [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
    }

    /// A query's name or value: everything but the unreserved characters is encoded, `+` and `&` and space included.
    static func component(_ text: String) -> String {
        encode(text) { $0.isLetterOrDigit || "-._~".utf8.contains($0) }
    }

    /// A name or value of `application/x-www-form-urlencoded`, as the URL standard of the WHATWG has it: a space is
    /// `+`.
    static func formComponent(_ text: String) -> String {
        encode(text, space: UInt8(ascii: "+")) { $0.isLetterOrDigit || "-._*".utf8.contains($0) }
    }

    /// The text that was percent-encoded; `nil` where a `%` has no two hexadecimal digits or the bytes are not UTF-8.
    package static func decoded(_ text: some StringProtocol) -> String? {
        var output: [UInt8] = []
        var rest = text.utf8[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                output.append(byte)
                continue
            }
            let digits = rest.prefix(2).compactMap(\.hexDigit)
            guard digits.count == 2 else { return nil }
            output.append(digits[0] << 4 | digits[1])
            rest = rest.dropFirst(2)
        }
        return String(validating: output, as: UTF8.self)
    }

    /// The bytes that are left when no escape can be decoded any more, however often it was encoded.
    static func decodedWholly(_ text: Substring.UTF8View) -> [UInt8] {
        var output: [UInt8] = []
        for byte in text {
            output.append(byte)
            // What an escape stands for may end another one.
            while output.count > 2, output[output.count - 3] == UInt8(ascii: "%"),
                let high = output[output.count - 2].hexDigit, let low = output[output.count - 1].hexDigit
            {
                output.replaceSubrange((output.count - 3)..., with: CollectionOfOne(high << 4 | low))
            }
        }
        return output
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
    /// What it stands for as a hexadecimal digit.
    var hexDigit: UInt8? {
        switch self {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): self - UInt8(ascii: "0")
        case UInt8(ascii: "A")...UInt8(ascii: "F"): self - UInt8(ascii: "A") + 10
        case UInt8(ascii: "a")...UInt8(ascii: "f"): self - UInt8(ascii: "a") + 10
        default: nil
        }
    }

    fileprivate var isLetterOrDigit: Bool {
        (0x30...0x39).contains(self) || (0x41...0x5A).contains(self) || (0x61...0x7A).contains(self)
    }
}
