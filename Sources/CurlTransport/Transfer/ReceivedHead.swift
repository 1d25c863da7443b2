import HTTPTypes
import NetworkCore
import Synchronization

/// A response's head as the loop hands it over.
struct WholeHead: Sendable {
    let bytes: [UInt8]
    /// What the scan has found; `nil` for a head that only ``ResponseHeadParser`` may judge.
    let scan: ResponseHeadScan?
}

/// The head of a response as the caller gets it: already checked, with fields that are parsed on demand.
final class ReceivedHead: UnreadHead {
    let status: HTTPResponse.Status
    /// The body's length on the wire in bytes, if the head has it: a Transfer-Encoding overrides Content-Length.
    let contentLength: Int?
    /// Whether the head has a Content-Encoding.
    let isEncoded: Bool
    private let whole: WholeHead
    private let parsed: Guarded<HTTPResponse?>

    /// - Throws: ``NetworkError/Code/invalidResponse`` or ``NetworkError/Code/responseHeadTooLarge`` for a head that
    ///   can't be used.
    init(_ whole: WholeHead) throws {
        self.whole = whole
        if let scan = whole.scan {
            status = scan.status
            contentLength = scan.isTransferEncoded ? nil : scan.contentLength
            isEncoded = scan.isEncoded
            parsed = Guarded(nil)
        } else {
            let head = try ResponseHeadParser.parse(whole.bytes)
            status = head.status
            let announced = try head.headerFields.announcedLength()
            contentLength = head.headerFields.contains(.transferEncoding) ? nil : announced
            isEncoded = head.headerFields.contains(.contentEncoding)
            parsed = Guarded(head)
        }
    }

    /// Whether the response came over HTTP/3.
    var isHTTP3: Bool { whole.bytes.starts(with: "HTTP/3".utf8) }

    var head: HTTPResponse {
        parsed.withLock { parsed in
            if let parsed { return parsed }
            let head =
                whole.scan.map { ResponseHeadParser.read(whole.bytes, scanned: $0) } ?? HTTPResponse(status: status)
            parsed = head
            return head
        }
    }
}

/// Parses the bytes of a head. It runs on the caller's side, not on the loop.
///
/// Lenient where servers are sloppy: a missing reason, a missing space after the colon, bare LF, values in Latin-1. It
/// skips a line that is not a header field. Strict where leniency is dangerous: it refuses two different
/// Content-Lengths (RFC 9110 §8.6), a Content-Length that is not a number, and more than 5,000 fields, which the
/// limit of 4,096 lines of a head precludes.
enum ResponseHeadParser {
    static let maximumFields = 5_000

    static func parse(_ bytes: [UInt8]) throws -> HTTPResponse {
        guard let statusLine = bytes.split(separator: UInt8(ascii: "\n"), maxSplits: 1).first else {
            throw invalid("its head is empty")
        }
        let status = try parseStatus(statusLine)
        let (fields, isWhole) = readFields(bytes, from: statusLine.endIndex)
        guard isWhole else {
            throw NetworkError(
                .responseHeadTooLarge,
                "the response has more than \(maximumFields) header fields",
                phase: .receiving
            )
        }
        _ = try fields.announcedLength()
        return HTTPResponse(status: status, headerFields: fields)
    }

    /// Reads a head that ``ResponseHeadScan`` has found to be a plain one.
    static func read(_ bytes: [UInt8], scanned: ResponseHeadScan) -> HTTPResponse {
        HTTPResponse(status: scanned.status, headerFields: readFields(bytes, from: scanned.fieldsStart).fields)
    }

    /// Returns the fields after a body. Lines that can't be read are skipped, and more than 5,000 fields give none: the
    /// body is complete by then.
    static func parseTrailers(_ bytes: [UInt8]) -> HTTPFields {
        let (fields, isWhole) = readFields(bytes, from: 0)
        return isWhole ? fields : [:]
    }

    /// A field whose value may continue on the next line.
    struct Field {
        let name: HTTPField.Name
        let value: Range<Int>
        /// The whole value, once it was folded. It grows in place: a head may consist of folds alone.
        private(set) var folded: [UInt8] = []
        private(set) var isFolded = false

        init(name: HTTPField.Name, value: Range<Int>) {
            self.name = name
            self.value = value
        }

        /// Appends a continuation line after a space (RFC 9112 §5.2).
        mutating func fold(_ line: Range<Int>, of bytes: [UInt8]) {
            if !isFolded {
                folded = Array(bytes[value])
                isFolded = true
            }
            folded.append(UInt8(ascii: " "))
            folded.append(contentsOf: bytes[line])
        }
    }

    /// - Returns: The fields, and whether their number is within the limit.
    private static func readFields(_ bytes: [UInt8], from start: Int) -> (fields: HTTPFields, isWhole: Bool) {
        var fields = HTTPFields()
        var last: Field?
        func finish() {
            guard let field = last else { return }
            let value = field.isFolded ? field.folded[...] : bytes[field.value]
            fields.append(HTTPField(name: field.name, value: text(value)))
            last = nil
        }
        var at = start
        while at < bytes.count {
            var end = at
            var colon = -1
            while end < bytes.count, bytes[end] != UInt8(ascii: "\n") {
                if colon < 0, bytes[end] == UInt8(ascii: ":") { colon = end }
                end += 1
            }
            let line = at..<end
            at = end + 1
            guard let first = line.first else { continue }
            if bytes[first] == UInt8(ascii: " ") || bytes[first] == UInt8(ascii: "\t") {
                last?.fold(trimmed(line, of: bytes), of: bytes)
                continue
            }
            finish()
            guard colon >= 0, let name = FieldNames.name(bytes[line.lowerBound..<colon]) else { continue }
            guard fields.count < maximumFields else { return (fields, false) }
            last = Field(name: name, value: trimmed((colon + 1)..<line.upperBound, of: bytes))
        }
        finish()
        return (fields, true)
    }

    /// Parses a status line such as `HTTP/1.1 200 OK` or `HTTP/2 200`.
    private static func parseStatus(_ line: ArraySlice<UInt8>) throws -> HTTPResponse.Status {
        let parts = line.split(separator: UInt8(ascii: " "), maxSplits: 2, omittingEmptySubsequences: false)
        guard parts.count >= 2, parts[0].starts(with: "HTTP/".utf8),
            let code = Int(String(decoding: trimmed(parts[1]), as: UTF8.self)), (100...999).contains(code)
        else { throw invalid("its status line is malformed") }
        let reason = parts.count > 2 ? text(trimmed(parts[2])) : ""
        return HTTPResponse.Status(code: code, reasonPhrase: reason)
    }

    /// Returns the bytes as UTF-8 where they are valid UTF-8, else as Latin-1, in which every byte is a character.
    private static func text(_ bytes: ArraySlice<UInt8>) -> String {
        if bytes.allSatisfy({ $0 < 0x80 }) { return String(decoding: bytes, as: UTF8.self) }
        if let text = String(validating: bytes, as: UTF8.self) { return text }
        return String(String.UnicodeScalarView(bytes.map { Unicode.Scalar($0) }))
    }

    private static func trimmed(_ range: Range<Int>, of bytes: [UInt8]) -> Range<Int> {
        func isSpace(_ byte: UInt8) -> Bool {
            byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") || byte == UInt8(ascii: "\r")
        }
        var (start, end) = (range.lowerBound, range.upperBound)
        while start < end, isSpace(bytes[start]) { start += 1 }
        while end > start, isSpace(bytes[end - 1]) { end -= 1 }
        return start..<end
    }

    private static func trimmed(_ slice: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        let whole = Array(slice)
        return whole[trimmed(0..<whole.count, of: whole)]
    }

    private static func invalid(_ reason: String) -> NetworkError {
        NetworkError(.invalidResponse, "the response can't be used: \(reason)", phase: .receiving)
    }
}

/// The names of the header fields that most servers send, created once. Creating a name checks it, lowercases it, and
/// allocates.
enum FieldNames {
    /// The names by their length in bytes, in their usual spellings.
    private static let known: [[(bytes: [UInt8], name: HTTPField.Name)]] = {
        let spelled = [
            "Accept-Ranges", "Access-Control-Allow-Origin", "Age", "Alt-Svc", "Cache-Control", "Connection",
            "Content-Disposition", "Content-Encoding", "Content-Language", "Content-Length", "Content-Type", "Date",
            "ETag",
            "Expires", "Keep-Alive", "Last-Modified", "Link", "Location", "Pragma", "Retry-After", "Server",
            "Set-Cookie",
            "Strict-Transport-Security", "Transfer-Encoding", "Vary", "Via", "X-Content-Type-Options",
            "X-Frame-Options",
            "X-Powered-By", "X-Request-Id",
        ]
        var table: [[(bytes: [UInt8], name: HTTPField.Name)]] = []
        // HTTP/2 and HTTP/3 send them in lowercase.
        for text in spelled + spelled.map({ $0.lowercased() }) {
            guard let name = HTTPField.Name(text) else { continue }
            let bytes = Array(text.utf8)
            while table.count <= bytes.count { table.append([]) }
            table[bytes.count].append((bytes, name))
        }
        return table
    }()

    /// Returns the name with this spelling; `nil` if it is not a valid name.
    static func name(_ bytes: ArraySlice<UInt8>) -> HTTPField.Name? {
        if bytes.count < known.count {
            for candidate in known[bytes.count] where bytes.elementsEqual(candidate.bytes) { return candidate.name }
        }
        return HTTPField.Name(String(decoding: bytes, as: UTF8.self))
    }
}
