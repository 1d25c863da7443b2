extension UInt8 {
    var isDigit: Bool { (0x30...0x39).contains(self) }
    var isLetter: Bool { (0x41...0x5A).contains(self & 0xDF) }
    package var isLetterOrDigit: Bool { isLetter || isDigit }
    var isControl: Bool { self < 0x20 || self == 0x7F }
    /// Whether the byte is a space or a tab.
    var isBlank: Bool { self == 0x20 || self == 0x09 }
    /// Whether a token may have the byte (RFC 9110 §5.6.2).
    var isOfToken: Bool { isLetterOrDigit || "!#$%&'*+-.^_`|~".utf8.contains(self) }

    /// The value of the byte as a hexadecimal digit, or `nil` if it is none.
    var hexDigit: UInt8? {
        switch self {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): self - UInt8(ascii: "0")
        case UInt8(ascii: "A")...UInt8(ascii: "F"): self - UInt8(ascii: "A") + 10
        case UInt8(ascii: "a")...UInt8(ascii: "f"): self - UInt8(ascii: "a") + 10
        default: nil
        }
    }
}

extension Int {
    /// Reads a text of decimal digits alone.
    init?(asciiDigits text: some Collection<UInt8>) {
        guard text.allSatisfy(\.isDigit) else { return nil }
        self.init(String(decoding: text, as: UTF8.self))
    }
}

extension Collection<UInt8> {
    /// The bytes without a byte order mark of UTF-8 at their start.
    var withoutMark: SubSequence { starts(with: [0xEF, 0xBB, 0xBF]) ? dropFirst(3) : self[...] }
}

extension Unicode.Scalar {
    /// Whether a terminal or a log would act on the character instead of showing it: controls, line separators,
    /// direction marks.
    package var isInvisible: Bool {
        switch value {
        case 0..<0x20, 0x7F...0x9F, 0x061C, 0x200E, 0x200F, 0x2028...0x202E, 0x2066...0x2069, 0xFEFF,
            0xE0000...0xE007F:
            true
        default: false
        }
    }
}
