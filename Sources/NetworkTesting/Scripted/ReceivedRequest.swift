public import Foundation

/// A request as ``ScriptedServer`` read it off the wire.
public struct ReceivedRequest: Sendable {
    /// The head as it came, without the blank line; each byte one character (ISO 8859-1).
    public let head: String
    /// The body, without its chunk framing.
    public let body: Data
    /// The number of its connection, from 0 in the order in which they were accepted.
    public let connection: Int

    /// The request line's parts: method, target, version.
    public var requestLine: [String] { (lines.first ?? "").split(separator: " ").map(String.init) }
    /// The method.
    public var method: String { requestLine.first ?? "" }
    /// The target: path and query.
    public var target: String { requestLine.dropFirst().first ?? "" }
    /// The header lines in their order.
    public var headerLines: [String] { Array(lines.dropFirst()) }

    /// The header fields in their order, white space around the value dropped.
    public var fields: [(name: String, value: String)] {
        headerLines.map { line in
            let parts = line.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
            return (String(parts[0]), parts.dropFirst().first.map { $0.trimmingCharacters(in: .whitespaces) } ?? "")
        }
    }

    /// The values of the fields with a name, in any case.
    public func values(of name: String) -> [String] {
        fields.filter { $0.name.lowercased() == name.lowercased() }.map(\.value)
    }

    private var lines: [String] { head.components(separatedBy: "\r\n") }
}

/// Finds where requests end in the bytes of one connection.
struct RequestReader {
    private let socket: LoopbackSocket
    private var unread = Data()

    init(_ socket: LoopbackSocket) { self.socket = socket }

    /// The head of the next request; `nil` when the connection ended first.
    mutating func readHead() -> String? {
        guard let end = readUntil(Data("\r\n\r\n".utf8)) else { return nil }
        return end.map { String(Unicode.Scalar($0)) }.joined()
    }

    /// The body that a head announces; `nil` when the connection ended first.
    mutating func readBody(of head: String) -> Data? {
        let request = ReceivedRequest(head: head, body: Data(), connection: 0)
        if request.values(of: "Transfer-Encoding").contains(where: { $0.lowercased() == "chunked" }) {
            return readChunks()
        }
        return read(count: request.values(of: "Content-Length").first.flatMap { Int($0) } ?? 0)
    }

    /// Some of what comes next, and at most so many bytes.
    /// - Returns: How many; `nil` when the connection ended first.
    mutating func readPiece(upTo count: Int) -> Int? {
        guard unread.isEmpty else {
            let piece = unread.prefix(count).count
            unread = Data(unread.dropFirst(piece))
            return piece
        }
        return socket.receive(upTo: count)?.count
    }

    private mutating func readChunks() -> Data? {
        let lineEnd = Data("\r\n".utf8)
        var body = Data()
        while let line = readUntil(lineEnd), let count = Int(String(decoding: line, as: UTF8.self), radix: 16) {
            guard let chunk = read(count: count), readUntil(lineEnd) != nil else { return nil }
            body.append(chunk)
            if count == 0 { return body }
        }
        return nil
    }

    private mutating func readUntil(_ separator: Data) -> Data? {
        while true {
            if let range = unread.range(of: separator) {
                let found = Data(unread[..<range.lowerBound])
                unread = Data(unread[range.upperBound...])
                return found
            }
            guard let more = socket.receive() else { return nil }
            unread.append(more)
        }
    }

    private mutating func read(count: Int) -> Data? {
        while unread.count < count {
            guard let more = socket.receive() else { return nil }
            unread.append(more)
        }
        let found = Data(unread.prefix(count))
        unread = Data(unread.dropFirst(count))
        return found
    }
}
