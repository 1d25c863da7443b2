/// Reads most URLs in one pass: lower-case scheme and host, and nothing that has to be changed, refused or explained.
/// ``RequestURLParser`` costs twenty times as much, for each request that is written as a text.
enum PlainURL {
    /// The URL; `nil` for one that only ``RequestURLParser`` may judge. Where both read it, they read the same.
    static func parse(_ text: String) -> RequestURL? {
        let scheme =
            text.utf8.starts(with: "http://".utf8) ? "http" : text.utf8.starts(with: "https://".utf8) ? "https" : nil
        guard let scheme, text.utf8.count <= RequestURL.maximumBytes else { return nil }
        var reader = Reader(bytes: text.utf8, at: text.utf8.index(text.startIndex, offsetBy: scheme.utf8.count + 3))
        guard let host = reader.host(), let port = reader.port() else { return nil }
        let pathStart = reader.at
        guard reader.skipTarget(upTo: UInt8(ascii: "?")) else { return nil }
        let path = text[pathStart..<reader.at]
        var query: String?
        if reader.byte == UInt8(ascii: "?") {
            reader.advance()
            let queryStart = reader.at
            guard reader.skipTarget(upTo: nil) else { return nil }
            query = String(text[queryStart..<reader.at])
        }
        // With a `/` for its empty path it may be too long.
        guard !path.isEmpty || text.utf8.count < RequestURL.maximumBytes else { return nil }
        return RequestURL(
            scheme: scheme, host: String(text[host]), port: port.number, path: path.isEmpty ? "/" : String(path),
            query: query, text: path.isEmpty ? nil : text)
    }

    private struct Reader {
        let bytes: String.UTF8View
        var at: String.UTF8View.Index

        /// 0 at the end, and for NUL, which nothing takes either.
        var byte: UInt8 { at < bytes.endIndex ? bytes[at] : 0 }

        mutating func advance() { at = bytes.index(after: at) }

        /// Letters, digits, hyphens and dots; an address has four numbers.
        mutating func host() -> Range<String.UTF8View.Index>? {
            let start = at
            var (length, label, labels) = (0, 0, 1)
            // Of the last label.
            var (number, digits, isNumeric, startsWithZero) = (0, 0, true, false)
            var hasOnlyNumbers = true
            loop: while true {
                let byte = byte
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "-"):
                    isNumeric = false
                    label += 1
                case UInt8(ascii: "0")...UInt8(ascii: "9"):
                    // A zero before another digit is octal to some.
                    if isNumeric, digits > 0, number == 0 { return nil }
                    if label == 0 { startsWithZero = byte == UInt8(ascii: "0") }
                    number = min(number * 10 + Int(byte - UInt8(ascii: "0")), 256)
                    digits += 1
                    label += 1
                case UInt8(ascii: "."):
                    guard label > 0, label <= 63 else { return nil }
                    hasOnlyNumbers = hasOnlyNumbers && isNumeric && number < 256
                    (label, number, digits, isNumeric, startsWithZero) = (0, 0, 0, true, false)
                    labels += 1
                default: break loop
                }
                length += 1
                advance()
            }
            guard label > 0, label <= 63, length <= 253 else { return nil }
            if isNumeric {
                guard labels == 4, hasOnlyNumbers, number < 256 else { return nil }
            } else if startsWithZero {
                // It may be hexadecimal.
                return nil
            }
            return start..<at
        }

        /// What follows the host.
        mutating func port() -> (number: Int?, Void)? {
            guard byte == UInt8(ascii: ":") else { return (nil, ()) }
            advance()
            // Written as a number is, so that the text is the URL's own.
            guard byte != UInt8(ascii: "0") else { return nil }
            var (number, digits) = (0, 0)
            while case UInt8(ascii: "0")...UInt8(ascii: "9") = byte, digits < 5 {
                number = number * 10 + Int(byte - UInt8(ascii: "0"))
                digits += 1
                advance()
            }
            return digits > 0 && (1...65_535).contains(number) ? (number, ()) : nil
        }

        /// Passes over a path, up to `end`, or a query. A dot after a slash, an escape and whatever would be escaped
        /// are not for us; what follows the host must begin a path, a query or nothing.
        mutating func skipTarget(upTo end: UInt8?) -> Bool {
            if end != nil, at < bytes.endIndex, byte != UInt8(ascii: "/"), byte != end { return false }
            var isAfterSlash = false
            while at < bytes.endIndex {
                let byte = bytes[at]
                if byte == end { return true }
                guard Self.isPlain(byte), !isAfterSlash || byte != UInt8(ascii: ".") else { return false }
                isAfterSlash = end != nil && byte == UInt8(ascii: "/")
                advance()
            }
            return true
        }

        private static func isPlain(_ byte: UInt8) -> Bool {
            byte < 128 && (byte < 64 ? plain.low >> byte : plain.high >> (byte - 64)) & 1 == 1
        }

        /// A bit for each byte that stands for itself in path and query.
        private static let plain: (low: UInt64, high: UInt64) = {
            var (low, high): (UInt64, UInt64) = (0, 0)
            for byte in "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~!$&'()*+,;=:@/?".utf8 {
                if byte < 64 { low |= 1 << byte } else { high |= 1 << (byte - 64) }
            }
            return (low, high)
        }()
    }
}
