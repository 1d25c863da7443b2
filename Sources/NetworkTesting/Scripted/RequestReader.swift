import Foundation

/// Splits the bytes of one connection into requests.
struct RequestReader {
    private let socket: LoopbackSocket
    private var unread = Data()

    init(_ socket: LoopbackSocket) { self.socket = socket }

    /// The result of reading a body.
    enum Body {
        case complete(Data)
        /// The announced length is invalid, so the start of the next request is unknown. Contains the bytes so far.
        case unframed(Data)
        /// The connection ended within the body.
        case cut
    }

    /// Returns the head of the next request; `nil` if the connection ended first.
    mutating func readHead() -> String? {
        guard let end = readUntil(Data("\r\n\r\n".utf8)) else { return nil }
        return end.map { String(Unicode.Scalar($0)) }.joined()
    }

    /// Returns the body that a head announces.
    mutating func readBody(of head: String) -> Body {
        let request = ReceivedRequest(head: head, body: Data(), connection: 0)
        if request.values(of: "Transfer-Encoding").contains(where: { $0.lowercased() == "chunked" }) {
            return readChunks()
        }
        let lengths = Set(request.values(of: "Content-Length"))
        guard let length = lengths.first else { return .complete(Data()) }
        guard lengths.count == 1, let count = Self.number(length, radix: 10) else { return .unframed(Data()) }
        return read(count: count).map { .complete($0) } ?? .cut
    }

    /// Reads and discards the next bytes, at most `count`.
    /// - Returns: The number of bytes; `nil` if the connection ended first.
    mutating func readPiece(upTo count: Int) -> Int? {
        guard unread.isEmpty else {
            let piece = unread.prefix(count).count
            unread = Data(unread.dropFirst(piece))
            return piece
        }
        return socket.receive(upTo: count)?.count
    }

    private mutating func readChunks() -> Body {
        var body = Data()
        while let line = readLine() {
            let size = line.prefix { $0 != ";" }.trimmingCharacters(in: .whitespaces)
            guard let count = Self.number(size, radix: 16) else { return .unframed(body) }
            if count == 0 { return readTrailers() ? .complete(body) : .cut }
            guard let chunk = read(count: count) else { return .cut }
            body.append(chunk)
            guard let end = readLine() else { return .cut }
            guard end.isEmpty else { return .unframed(body) }
        }
        return .cut
    }

    /// Skips the trailer fields, up to the blank line.
    private mutating func readTrailers() -> Bool {
        while let line = readLine() { if line.isEmpty { return true } }
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
