import HTTPTypes

/// The value of Content-Range (RFC 9110 §14.4), in bytes.
struct ContentRange: Hashable, Sendable {
    /// The first byte; `nil` for a range that can't be satisfied.
    var first: Int?
    var last: Int?
    /// The whole length; `nil` if the server does not know it.
    var total: Int?

    /// Parses a value.
    init?(_ text: String) {
        guard text.lowercasedASCII.hasBytePrefix("bytes ") else { return nil }
        let parts = Substring(text.utf8.dropFirst(6)).split(atByte: UInt8(ascii: "/"))
        guard parts.count == 2 else { return nil }
        if parts[1] != "*" {
            guard let total = Int(asciiDigits: parts[1].utf8) else { return nil }
            self.total = total
        }
        if parts[0] == "*" { return }
        let ends = parts[0].split(atByte: UInt8(ascii: "-")).map { Int(asciiDigits: $0.utf8) }
        guard ends.count == 2, let first = ends[0], let last = ends[1], first <= last, last < total ?? .max else {
            return nil
        }
        (self.first, self.last) = (first, last)
    }
}

extension TransportRequest {
    /// Returns whether a 206 may have the part that the request is for (RFC 9110 §15.3.7).
    func asked(forPartIn head: HTTPResponse) -> Bool {
        guard let range = headerFields[.range] else { return false }
        let ends = range.utf8.starts(with: "bytes=".utf8) ? Substring(range.utf8.dropFirst(6)) : ""
        let parts = ends.split(atByte: UInt8(ascii: "-"))
        guard parts.count == 2, !parts[0].isEmpty, let first = Int(parts[0]) else { return true }
        guard let part = head.headerFields[.contentRange].flatMap({ ContentRange($0) }) else { return true }
        return part.first == first
    }
}
