import HTTPTypes
import NetworkCore

/// A quick scan of a head's bytes: its framing, what must be known before the response is delivered, and whether the
/// rest may be parsed on demand. Of most heads only the status is parsed.
struct ResponseHeadScan: Sendable {
    let status: HTTPResponse.Status
    /// The index of the first field.
    let fieldsStart: Int
    /// The value of the one plain Content-Length, in bytes, if there is one.
    private(set) var contentLength: Int?
    /// Whether there is a Transfer-Encoding, which overrides a Content-Length (RFC 9112 §6.3).
    private(set) var isTransferEncoded = false
    /// Whether there is a Content-Encoding.
    private(set) var isEncoded = false

    /// Returns `nil` for a head with anything unusual in it, which only ``ResponseHeadParser`` may judge: a folded
    /// line, lengths that are lists, repeated, or not plain numbers, or an unusual status line.
    init?(_ bytes: [UInt8]) {
        guard let (status, start) = Self.readStatus(bytes) else { return nil }
        self.status = status
        fieldsStart = start
        var lines = 0
        var at = start
        while at < bytes.count {
            let first = bytes[at]
            if first == UInt8(ascii: " ") || first == UInt8(ascii: "\t") { return nil }
            let end = ByteSearch.newline(in: bytes, from: at)
            if first | 0x20 == UInt8(ascii: "c"), !look(bytes, at, end) { return nil }
            if first | 0x20 == UInt8(ascii: "t") {
                guard let isNamed = Self.isNamed(Self.transferEncodingName, bytes, at, end) else { return nil }
                isTransferEncoded = isTransferEncoded || isNamed
            }
            lines += 1
            at = end + 1
        }
        guard lines <= ResponseHeadParser.maximumFields else { return nil }
    }

    /// Checks a line that may be one of the relevant fields. Returns `false` if only the parser may judge it.
    private mutating func look(_ bytes: [UInt8], _ start: Int, _ end: Int) -> Bool {
        // The names' bytes in these places rule out most other fields.
        guard end - start > 8, bytes[start + 7] == UInt8(ascii: "-") else { return true }
        let initial = bytes[start + 8] | 0x20
        if initial == UInt8(ascii: "e"), Self.isNamed(Self.contentEncodingName, bytes, start, end) == true {
            isEncoded = true
        } else if initial == UInt8(ascii: "l") {
            guard let isNamed = Self.isNamed(Self.contentLengthName, bytes, start, end) else { return false }
            guard isNamed else { return true }
            guard contentLength == nil, let length = Self.readLength(bytes, start + 15, end) else { return false }
            contentLength = length
        }
        return true
    }

    private static let contentEncodingName = Array("content-encoding".utf8)
    private static let contentLengthName = Array("content-length".utf8)
    private static let transferEncodingName = Array("transfer-encoding".utf8)

    /// Returns whether a line's field has a name; `nil` if no colon follows the name, nor more of it.
    private static func isNamed(_ name: [UInt8], _ bytes: [UInt8], _ start: Int, _ end: Int) -> Bool? {
        guard end - start >= name.count else { return false }
        for index in 0..<name.count {
            let (byte, wanted) = (bytes[start + index], name[index])
            let isCapital = byte ^ wanted == 0x20 && wanted >= UInt8(ascii: "a")
            guard byte == wanted || isCapital else { return false }
        }
        guard end - start > name.count, bytes[start + name.count] > 0x20 else { return nil }
        return bytes[start + name.count] == UInt8(ascii: ":")
    }

    private static func readLength(_ bytes: [UInt8], _ start: Int, _ end: Int) -> Int? {
        var (at, length, digits) = (start, 0, 0)
        while at < end, bytes[at] == UInt8(ascii: " ") { at += 1 }
        while at < end, bytes[at] >= UInt8(ascii: "0"), bytes[at] <= UInt8(ascii: "9"), digits < 18 {
            length = length * 10 + Int(bytes[at] - UInt8(ascii: "0"))
            digits += 1
            at += 1
        }
        if at < end, bytes[at] == UInt8(ascii: "\r") { at += 1 }
        return at == end && digits > 0 ? length : nil
    }

    private static let usualStatusLine = Array("HTTP/1.1 200 OK\r\n".utf8)

    /// Returns whether a line is the status line of most responses over HTTP/1.
    static func isUsualStatus(_ line: some Collection<UInt8>) -> Bool { ByteSearch.areEqual(line, usualStatusLine) }

    /// Returns the status of a line such as `HTTP/1.1 200 OK` or `HTTP/2 200`, and the index of the next line.
    private static func readStatus(_ bytes: [UInt8]) -> (HTTPResponse.Status, Int)? {
        if ByteSearch.start(of: bytes, is: usualStatusLine) { return (.ok, usualStatusLine.count) }
        let end = ByteSearch.newline(in: bytes, from: 0)
        guard end < bytes.count, let space = bytes.firstIndex(of: UInt8(ascii: " ")),
            space + 3 < end
        else { return nil }
        var code = 0
        for byte in bytes[(space + 1)...(space + 3)] {
            guard byte >= UInt8(ascii: "0"), byte <= UInt8(ascii: "9") else { return nil }
            code = code * 10 + Int(byte - UInt8(ascii: "0"))
        }
        guard code >= 100, bytes.starts(with: "HTTP/".utf8) else { return nil }
        var (from, to) = (space + 4, end)
        if bytes[to - 1] == UInt8(ascii: "\r") { to -= 1 }
        // Only a space may follow the number, and the reason must be plain text.
        if from < to {
            guard bytes[from] == UInt8(ascii: " ") else { return nil }
            from += 1
        }
        if code == 200, to - from == 2, bytes[from] == UInt8(ascii: "O"), bytes[from + 1] == UInt8(ascii: "K") {
            return (.ok, end + 1)
        }
        guard from <= to, bytes[from..<to].allSatisfy({ $0 > 0x20 && $0 < 0x7F || $0 == 0x20 }),
            from == to || bytes[from] != 0x20 && bytes[to - 1] != 0x20
        else { return nil }
        let reason = String(decoding: bytes[from..<to], as: UTF8.self)
        return (HTTPResponse.Status(code: code, reasonPhrase: reason), end + 1)
    }
}
