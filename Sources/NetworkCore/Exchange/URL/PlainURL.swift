/// A fast parser that reads most URLs in one pass: those with scheme and host in lower case and with nothing to change,
/// refuse or explain. ``RequestURLParser`` takes twenty times as long, for each request whose URL is a text.
enum PlainURL {
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
        // Adding a `/` for the empty path may make it too long.
        guard !path.isEmpty || text.utf8.count < RequestURL.maximumBytes else { return nil }
        return RequestURL(
            scheme: scheme, host: String(text[host]), port: port.number, path: path.isEmpty ? "/" : String(path),
            query: query, text: path.isEmpty ? nil : text)
    }

    private struct Reader {
        let bytes: String.UTF8View
        var at: String.UTF8View.Index

        /// The current byte, or 0 at the end; no rule accepts NUL either.
        var byte: UInt8 { at < bytes.endIndex ? bytes[at] : 0 }

        mutating func advance() { at = bytes.index(after: at) }

        /// Reads letters, digits, hyphens and dots. An address has four numbers.
        mutating func host() -> Range<String.UTF8View.Index>? {
            let start = at
            var (length, label, labels) = (0, 0, 1)
            // Of the current label.
            var (number, digits, isNumeric, startsWithZero) = (0, 0, true, false)
            var hasOnlyNumbers = true
            loop: while true {
                let byte = byte
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "-"):
                    isNumeric = false
                    label += 1
                case UInt8(ascii: "0")...UInt8(ascii: "9"):
                    // Some resolvers read a number with a leading zero as octal.
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
                // Possibly hexadecimal.
                return nil
            }
            return start..<at
        }

        mutating func port() -> (number: Int?, Void)? {
            guard byte == UInt8(ascii: ":") else { return (nil, ()) }
            advance()
            // No leading zeros, so that the text is the URL's own.
            guard byte != UInt8(ascii: "0") else { return nil }
            var (number, digits) = (0, 0)
            while case UInt8(ascii: "0")...UInt8(ascii: "9") = byte, digits < 5 {
                number = number * 10 + Int(byte - UInt8(ascii: "0"))
                digits += 1
                advance()
            }
            return digits > 0 && (1...65_535).contains(number) ? (number, ()) : nil
        }

        /// Skips a path, up to `end`, or a query. Returns `false` for a dot after a slash, an escape, a character that
        /// has to be escaped, and a host that is not followed by a path, a query or the end.
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

        /// A bit for each byte that needs no escape in a path or a query.
        private static let plain: (low: UInt64, high: UInt64) = {
            var (low, high): (UInt64, UInt64) = (0, 0)
            for byte in "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~!$&'()*+,;=:@/?".utf8 {
                if byte < 64 { low |= 1 << byte } else { high |= 1 << (byte - 64) }
            }
            return (low, high)
        }()
    }
}
