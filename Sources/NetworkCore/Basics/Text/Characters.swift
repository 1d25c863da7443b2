extension UInt8 {
    var isDigit: Bool { (0x30...0x39).contains(self) }
    var isLetter: Bool { (0x41...0x5A).contains(self & 0xDF) }
    package var isLetterOrDigit: Bool { isLetter || isDigit }
    var isControl: Bool { self < 0x20 || self == 0x7F }
    package var isBlank: Bool { self == 0x20 || self == 0x09 }
    /// Whether a token may have the byte (RFC 9110 §5.6.2).
    var isOfToken: Bool { isLetterOrDigit || "!#$%&'*+-.^_`|~".utf8.contains(self) }

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
    init?(asciiDigits text: some Collection<UInt8>) {
        guard text.allSatisfy(\.isDigit) else { return nil }
        self.init(String(decoding: text, as: UTF8.self))
    }
}

extension Collection<UInt8> {
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

extension Duration {
    /// The duration in whole milliseconds, rounded up so that a positive duration never becomes 0, and capped at
    /// `Int.max / 2`.
    package var roundedUpMilliseconds: Int {
        // Beyond that, `components` can't hold the seconds.
        guard self < .seconds(Int64.max), self > .seconds(Int64.min) else {
            return self < .zero ? Int.min / 2 : Int.max / 2
        }
        let (seconds, attoseconds) = components
        let (scaled, overflow) = seconds.multipliedReportingOverflow(by: 1000)
        guard !overflow, scaled < Int64.max / 2, scaled > Int64.min / 2 else {
            return seconds < 0 ? Int.min / 2 : Int.max / 2
        }
        return Int(scaled) + Int((attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000)
    }

    package var inSeconds: Double { self / .seconds(1) }

    package var shortText: String {
        let seconds = inSeconds
        switch abs(seconds) {
        case ..<0.001: return "\(Int((seconds * 1_000_000).rounded())) µs"
        case ..<1: return "\((seconds * 10_000).rounded() / 10) ms"
        default: return "\((seconds * 100).rounded() / 100) s"
        }
    }
}

extension Sequence<UInt8> {
    package var hexadecimal: String {
        let digits = Array("0123456789abcdef".utf8)
        return String(decoding: flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
    }
}

extension Int {
    /// Returns the sum, or the limit that it would go beyond.
    func addingClamped(_ other: Int) -> Int {
        let (sum, overflows) = addingReportingOverflow(other)
        return overflows ? (other > 0 ? .max : .min) : sum
    }
}

/// Text compared byte by byte, for everything that a peer reads byte by byte.
extension StringProtocol {
    package func hasBytePrefix(_ prefix: some StringProtocol) -> Bool { utf8.starts(with: prefix.utf8) }

    package func hasByteSuffix(_ suffix: some StringProtocol) -> Bool {
        utf8.reversed().starts(with: suffix.utf8.reversed())
    }

    package func hasSameBytes(as other: some StringProtocol) -> Bool { utf8.elementsEqual(other.utf8) }

    package func contains(byte: UInt8) -> Bool { utf8.contains(byte) }

    /// Returns the parts between the bytes that equal a separator, which must be ASCII. Empty parts count.
    package func split(atByte separator: UInt8, maximumSplits: Int = .max) -> [SubSequence] {
        utf8.split(separator: separator, maxSplits: maximumSplits, omittingEmptySubsequences: false).map {
            self[$0.startIndex..<$0.endIndex]
        }
    }

    package func replacing(ascii texts: [UInt8: String]) -> String {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(utf8.count)
        for byte in utf8 {
            if let text = texts[byte] { bytes += text.utf8 } else { bytes.append(byte) }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// The text with A to Z in lower case and all other characters unchanged.
    package var lowercasedASCII: String {
        String(decoding: utf8.map { (0x41...0x5A).contains($0) ? $0 | 0x20 : $0 }, as: UTF8.self)
    }

    package var withoutBlanks: SubSequence {
        var (start, end) = (endIndex, endIndex)
        for index in utf8.indices where !utf8[index].isBlank {
            if start == endIndex { start = index }
            end = utf8.index(after: index)
        }
        return self[start..<end]
    }
}

extension Substring.UTF8View {
    /// Takes the text of a quoted string (RFC 9110 §5.6.4), whose opening quote is first; `nil` without an end.
    package mutating func popQuoted() -> String? {
        self = dropFirst()
        var text: [UInt8] = []
        while let byte = popFirst() {
            if byte == UInt8(ascii: "\"") { return String(decoding: text, as: UTF8.self) }
            guard let plain = byte == UInt8(ascii: "\\") ? popFirst() : byte else { return nil }
            text.append(plain)
        }
        return nil
    }
}
