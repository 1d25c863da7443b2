/// Percent-encoding of RFC 3986.
enum PercentEncoding {
    private static let digits = Array("0123456789ABCDEF".utf8)

    /// `%` and two digits.
    static func encoded(_ byte: UInt8) -> [UInt8] {
        [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
    }

    /// A query's name or value: everything but the unreserved characters is encoded, `+` and `&` and space included.
    static func component(_ text: String) -> String {
        var output: [UInt8] = []
        output.reserveCapacity(text.utf8.count)
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
                UInt8(ascii: "~"):
                output.append(byte)
            default: output += encoded(byte)
            }
        }
        return String(decoding: output, as: UTF8.self)
    }
}
