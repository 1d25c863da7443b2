public import Foundation
public import NetworkCore

/// A request as ``ScriptedServer`` received it on the wire.
public struct ReceivedRequest: Sendable, SafelyPrinted {
    /// The head as received, without the blank line; each byte is one character (ISO 8859-1).
    public let head: String
    /// The body, without the framing of a chunked transfer.
    public let body: Data
    /// The lines of the trailer fields after the body, in the order received.
    public internal(set) var trailerLines: [String] = []
    /// The number of the connection, from 0 in the order in which the server accepted them.
    public let connection: Int

    /// The parts of the request line: method, target, version.
    public var requestLine: [String] { (lines.first ?? "").split(separator: " ").map(String.init) }
    /// The method, as received.
    public var method: String { requestLine.first ?? "" }
    /// The target: the path and query.
    public var target: String { requestLine.dropFirst().first ?? "" }
    /// The header lines, in the order received.
    public var headerLines: [String] { Array(lines.dropFirst()) }

    /// The header fields, in the order received, without white space around the values.
    public var fields: [(name: String, value: String)] {
        headerLines.map { line in
            let parts = line.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
            return (String(parts[0]), parts.dropFirst().first.map { $0.trimmingCharacters(in: .whitespaces) } ?? "")
        }
    }

    /// Returns the values of all fields with a name. The case of the name does not matter.
    public func values(of name: String) -> [String] {
        fields.filter { $0.name.lowercased() == name.lowercased() }.map(\.value)
    }

    private var lines: [String] { head.components(separatedBy: "\r\n") }

    /// The method and the target without its query, the number of header fields and the size of the body.
    public var description: String {
        let (line, size) = (requestLine, "\(headerLines.count) header fields, a body of \(body.count) bytes")
        guard line.count == 3, line[2].hasPrefix("HTTP/") else { return "not an HTTP request, \(size)" }
        return "\(Redaction.visible(method)) \(Redaction().url(target)), \(size)"
    }
}

/// Splits the bytes of one connection into requests.
struct RequestReader {
    private let socket: LoopbackSocket
    private var unread = Data()

    init(_ socket: LoopbackSocket) { self.socket = socket }

    /// How a body ended.
    enum BodyEnd {
        case complete
        /// The announced length is invalid, so the start of the next request is unknown.
        case unframed
        /// The connection ended within the body.
        case cut
    }

    /// Returns the head of the next request; `nil` if the connection ended first.
    mutating func readHead() -> String? {
        guard let end = readUntil(Data("\r\n\r\n".utf8)) else { return nil }
        return end.map { String(Unicode.Scalar($0)) }.joined()
    }

    /// Reads the body that a head announces, and calls a closure with each piece.
    mutating func readBody(of head: String, _ take: (Data) -> Void) -> BodyEnd {
        trailerLines = []
        let request = ReceivedRequest(head: head, body: Data(), connection: 0)
        if request.values(of: "Transfer-Encoding").contains(where: { $0.lowercased() == "chunked" }) {
            return readChunks(take)
        }
        let lengths = Set(request.values(of: "Content-Length"))
        guard let length = lengths.first else { return .complete }
        guard lengths.count == 1, let count = Self.number(length, radix: 10) else { return .unframed }
        return read(count: count, take) ? .complete : .cut
    }

    /// Discards some of the next bytes, and returns their number; `nil` if the connection ended first.
    mutating func readPiece(upTo count: Int) -> Int? {
        guard unread.isEmpty else {
            let piece = min(count, unread.count)
            unread.removeFirst(piece)
            return piece
        }
        return socket.receive(upTo: count)?.count
    }

    private mutating func readChunks(_ take: (Data) -> Void) -> BodyEnd {
        while let line = readLine() {
            let size = line.prefix { $0 != ";" }.trimmingCharacters(in: .whitespaces)
            guard let count = Self.number(size, radix: 16) else { return .unframed }
            if count == 0 { return readTrailers() ? .complete : .cut }
            guard read(count: count, take), let end = readLine() else { return .cut }
            guard end.isEmpty else { return .unframed }
        }
        return .cut
    }

    /// The lines of the last body's trailer fields.
    private(set) var trailerLines: [String] = []

    /// Reads the trailer fields, up to the blank line.
    private mutating func readTrailers() -> Bool {
        while let line = readLine() {
            if line.isEmpty { return true }
            trailerLines.append(line)
        }
        return false
    }

    /// Returns a number made of digits only, without a sign; `nil` if it does not fit in `Int`.
    private static func number(_ text: String, radix: Int) -> Int? {
        guard text.allSatisfy({ $0.isASCII && $0.isHexDigit }) else { return nil }
        return Int(text, radix: radix)
    }

    private mutating func readLine() -> String? {
        readUntil(Data("\r\n".utf8)).map { String(decoding: $0, as: UTF8.self) }
    }

    /// The longest head or line, in bytes.
    private static let maximumBytes = 1_048_576

    private mutating func readUntil(_ separator: Data) -> Data? {
        while unread.count < Self.maximumBytes {
            if let range = unread.range(of: separator) {
                let found = Data(unread[..<range.lowerBound])
                unread = unread[range.upperBound...]
                return found
            }
            guard let more = socket.receive() else { return nil }
            unread.append(more)
        }
        return nil
    }

    /// Reads a number of bytes in pieces, and returns whether all of them came.
    private mutating func read(count: Int, _ take: (Data) -> Void) -> Bool {
        var left = count
        while left > 0 {
            if unread.isEmpty {
                guard let more = socket.receive() else { return false }
                unread = more
            }
            let piece = unread.prefix(left)
            unread.removeFirst(piece.count)
            left -= piece.count
            take(piece)
        }
        return true
    }
}
