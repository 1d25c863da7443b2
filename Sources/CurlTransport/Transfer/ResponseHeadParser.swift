import HTTPTypes
import NetworkCore

/// Reads a head's bytes. It runs on the caller's side, not on the loop.
///
/// Lenient where servers are sloppy: a missing reason, a missing space after the colon, bare LF, values in Latin-1. A line
/// that is no header field is skipped. Strict where leniency is dangerous: two different Content-Lengths are refused
/// (RFC 9110 §8.6), and so are one that is no number and more than 5,000 fields.
enum ResponseHeadParser {
    static let maximumFields = 5_000

    static func parse(_ bytes: [UInt8]) throws -> HTTPResponse {
        var lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: true)[...]
        guard let statusLine = lines.popFirst() else { throw invalid("its head is empty") }
        let response = HTTPResponse(status: try parseStatus(statusLine), headerFields: try parseFields(lines))
        _ = try response.headerFields.announcedLength()
        return response
    }

    /// The fields after a body. What can't be read is left out: the body is complete by then.
    static func parseTrailers(_ bytes: [UInt8]) -> HTTPFields {
        (try? parseFields(bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: true)[...])) ?? [:]
    }

    private static func parseFields(_ lines: ArraySlice<ArraySlice<UInt8>>) throws -> HTTPFields {
        var fields = HTTPFields()
        var last: (name: HTTPField.Name, value: [UInt8])?
        func finish() {
            guard let (name, value) = last else { return }
            fields.append(HTTPField(name: name, value: text(value)))
            last = nil
        }
        for line in lines {
            if let first = line.first, first == UInt8(ascii: " ") || first == UInt8(ascii: "\t") {
                // A folded value (RFC 9112 §5.2) goes on after a space.
                last?.value += [UInt8(ascii: " ")] + trimmed(line)
                continue
            }
            finish()
            guard let colon = line.firstIndex(of: UInt8(ascii: ":")) else { continue }
            let name = String(decoding: line[..<colon], as: UTF8.self)
            guard let fieldName = HTTPField.Name(name) else { continue }
            guard fields.count < maximumFields else {
                throw NetworkError(
                    .responseHeadTooLarge,
                    "the response has more than \(maximumFields) header fields",
                    phase: .receiving
                )
            }
            last = (fieldName, Array(trimmed(line[(colon + 1)...])))
        }
        finish()
        return fields
    }

    /// `HTTP/1.1 200 OK`, `HTTP/2 200`.
    private static func parseStatus(_ line: ArraySlice<UInt8>) throws -> HTTPResponse.Status {
        let parts = line.split(separator: UInt8(ascii: " "), maxSplits: 2, omittingEmptySubsequences: false)
        guard parts.count >= 2, parts[0].starts(with: "HTTP/".utf8),
            let code = Int(String(decoding: trimmed(parts[1]), as: UTF8.self)), (100...999).contains(code)
        else { throw invalid("its status line is not one") }
        let reason = parts.count > 2 ? text(Array(trimmed(parts[2]))) : ""
        return HTTPResponse.Status(code: code, reasonPhrase: reason)
    }

    /// UTF-8 where it is UTF-8, else Latin-1, in which every byte is a character.
    private static func text(_ bytes: [UInt8]) -> String {
        if let text = String(validating: bytes, as: UTF8.self) { return text }
        return String(String.UnicodeScalarView(bytes.map { Unicode.Scalar($0) }))
    }

    private static func trimmed(_ bytes: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        let isSpace: (UInt8) -> Bool = {
            $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") || $0 == UInt8(ascii: "\r")
        }
        let start = bytes.drop(while: isSpace)
        guard let end = start.lastIndex(where: { !isSpace($0) }) else { return [] }
        return start[...end]
    }

    private static func invalid(_ reason: String) -> NetworkError {
        NetworkError(.invalidResponse, "the response can't be used: \(reason)", phase: .receiving)
    }
}
