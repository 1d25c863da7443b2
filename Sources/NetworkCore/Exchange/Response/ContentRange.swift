import FoundationEssentials
import HTTPTypes

/// The value of Content-Range (RFC 9110 §14.4), in bytes.
package struct ContentRange: Hashable, Sendable {
    /// The first byte; `nil` for a range that can't be satisfied.
    package var first: Int?
    package var last: Int?
    /// The whole length; `nil` if the server does not know it.
    package var total: Int?

    /// Parses a value.
    /// - Returns: `nil` for a text that is not a Content-Range, or one that contradicts itself.
    package init?(_ text: String) {
        guard text.lowercasedASCII.hasBytePrefix("bytes ") else { return nil }
        let parts = Substring(text.utf8.dropFirst(6)).split(atByte: UInt8(ascii: "/"))
        guard parts.count == 2 else { return nil }
        if parts[1] != "*" {
            guard let total = Self.number(parts[1]) else { return nil }
            self.total = total
        }
        if parts[0] == "*" { return }
        let ends = parts[0].split(atByte: UInt8(ascii: "-")).map { Self.number($0) }
        guard ends.count == 2, let first = ends[0], let last = ends[1], first <= last, last < total ?? .max else {
            return nil
        }
        (self.first, self.last) = (first, last)
    }

    /// Whether the range is the whole.
    package var isWhole: Bool { first == 0 && last.map { $0 + 1 } == total }

    private static func number(_ text: Substring) -> Int? {
        text.utf8.allSatisfy { (0x30...0x39).contains($0) } ? Int(text) : nil
    }
}

extension TransportRequest {
    /// Returns whether a 206 has the part that the request is for (RFC 9110 §15.3.7). Of a request for several parts
    /// every 206 has them.
    func asked(forPartIn head: HTTPResponse) -> Bool {
        guard let range = headerFields[.range] else { return false }
        let ends = range.utf8.starts(with: "bytes=".utf8) ? Substring(range.utf8.dropFirst(6)) : ""
        let parts = ends.split(atByte: UInt8(ascii: "-"))
        guard parts.count == 2, !parts[0].isEmpty, let first = Int(parts[0]) else { return true }
        return head.headerFields[.contentRange].flatMap { ContentRange($0) }?.first == first
    }
}
