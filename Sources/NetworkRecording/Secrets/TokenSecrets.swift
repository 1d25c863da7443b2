/// JSON Web Tokens (RFC 7519) anywhere in a text: three parts of Base64url or more, the first of which is a JSON
/// object.
enum TokenSecrets {
    /// Returns the text with a mark in place of each token, or `nil` if it contains none.
    static func redacted(_ text: [UInt8]) -> [UInt8]? {
        var (output, copied, at) = ([UInt8](), 0, 0)
        while let start = text[at...].firstIndex(where: { $0 == UInt8(ascii: "e") }) {
            let run = Run(in: text, from: start)
            if let token = run.token {
                output += text[copied..<token]
                output += SecretMark.bytes
                copied = run.end
            }
            // A run is looked at once, whatever it is: the next one begins after it.
            at = max(run.end, start + 1)
        }
        return copied > 0 ? output + text[copied...] : nil
    }

    /// The bytes from a place on that a token may have, up to the first other one.
    private struct Run {
        private let text: [UInt8]
        private let start: Int
        private(set) var end: Int
        /// The offsets of the dots, and of those that are percent-encoded.
        private var dots: [Int] = []

        init(in text: [UInt8], from start: Int) {
            (self.text, self.start, end) = (text, start, start)
            while end < text.count {
                let length = TokenSecrets.lengthOfDot(text[end...])
                guard length > 0 || TokenSecrets.isBase64(text[end]) else { break }
                if length > 0 { dots.append(end) }
                end += max(1, length)
            }
        }

        /// The offset at which a token begins; `nil` if there is none.
        var token: Int? {
            guard dots.count >= 2 else { return nil }
            var dot = 0
            var isAtStart = true
            var at = start
            while at < dots[dots.count - 2] {
                if at == dots[dot] {
                    at += TokenSecrets.lengthOfDot(text[at...])
                    (dot, isAtStart) = (dot + 1, true)
                    continue
                }
                if TokenSecrets.isHeader(text[at..<dots[dot]], isWhole: isAtStart) { return at }
                isAtStart = false
                at += 1
            }
            return nil
        }
    }

    /// The length of a dot at the start of a text, which a URL may escape; 0 for anything else.
    private static func lengthOfDot(_ text: ArraySlice<UInt8>) -> Int {
        if text.first == UInt8(ascii: ".") { return 1 }
        guard text.first == UInt8(ascii: "%"), text.count >= 3 else { return 0 }
        return text[text.startIndex + 1] == UInt8(ascii: "2") && text[text.startIndex + 2] | 0x20 == UInt8(ascii: "e")
            ? 3 : 0
    }

    /// The length of the shortest header that names an algorithm; code such as `keyJoin.a.b` is no token.
    private static let minimumHeader = 12
    /// The part of a header in which the name of its algorithm is looked for, in characters of Base64.
    private static let maximumLooked = 256

    /// Whether a part is the header of a token: the Base64 of `{"`, or of a `{` with white space and an algorithm.
    /// - Parameter isWhole: Whether the part begins here, and not before.
    private static func isHeader(_ part: ArraySlice<UInt8>, isWhole: Bool) -> Bool {
        guard part.count >= minimumHeader, part.first == UInt8(ascii: "e") else { return false }
        if part.starts(with: "eyJ".utf8) { return true }
        let second = part[part.startIndex + 1]
        guard isWhole, second == UInt8(ascii: "y") || second == UInt8(ascii: "w") else { return false }
        return decoded(part.prefix(maximumLooked)).firstRange(of: Array("\"alg\"".utf8)) != nil
    }

    /// Returns the bytes of a text in Base64url, up to the first character that is none of it.
    private static func decoded(_ text: ArraySlice<UInt8>) -> [UInt8] {
        var (output, bits, count) = ([UInt8](), UInt32(0), 0)
        for byte in text {
            guard let value = values[Int(byte)] else { break }
            (bits, count) = (bits << 6 | UInt32(value), count + 6)
            if count >= 8 {
                count -= 8
                output.append(UInt8(truncatingIfNeeded: bits >> UInt32(count)))
            }
        }
        return output
    }

    private static func isBase64(_ byte: UInt8) -> Bool { values[Int(byte)] != nil }

    /// The values of the characters of Base64url (RFC 4648 §5).
    private static let values: [UInt8?] = {
        var values = [UInt8?](repeating: nil, count: 256)
        let alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
        for (value, byte) in alphabet.utf8.enumerated() { values[Int(byte)] = UInt8(value) }
        return values
    }()
}
