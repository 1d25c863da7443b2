/// JSON Web Tokens (RFC 7519) anywhere in a text: three parts of Base64 or more, the first of which is a JSON object.
enum TokenSecrets {
    /// Returns the text with a mark in place of each token, or `nil` if it contains none.
    static func redacted(_ text: [UInt8]) -> [UInt8]? {
        var (output, copied, at) = ([UInt8](), 0, 0)
        while at + minimumHeader < text.count {
            guard text[at] == start[0], text[at + 1] == start[1], text[at + 2] == start[2] else {
                at += 1
                continue
            }
            let end = text[at...].firstIndex { !isPart($0) } ?? text.endIndex
            let token = text[at..<end]
            if token.count(where: { $0 == dot }) >= 2, token.prefix(while: { $0 != dot }).count >= minimumHeader {
                output += text[copied..<at]
                output += SecretMark.bytes
                copied = end
            }
            // Of several starts in a row without a blank, the first decides: each byte is read twice at most.
            at = end
        }
        return copied > 0 ? output + text[copied...] : nil
    }

    /// The Base64 of `{"`.
    private static let start = Array("eyJ".utf8)
    private static let dot = UInt8(ascii: ".")
    /// The length of the shortest header that names an algorithm; code such as `keyJoin.a.b` is no token.
    private static let minimumHeader = 12

    private static func isPart(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "-"), UInt8(ascii: "_"), dot:
            true
        default: false
        }
    }
}
