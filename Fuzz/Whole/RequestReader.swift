/// Splits the bytes of one connection into requests.
struct RequestReader {
    enum Event {
        /// A head, without its blank line.
        case head([UInt8])
        /// A part of the body, without its framing.
        case body([UInt8])
        /// The end of the request.
        case end
    }

    private enum Part {
        case head
        case body(left: Int)
        case chunkSize
        case chunk(left: Int)
        case chunkEnd
        case lastLine
    }

    private var unread: [UInt8] = []
    private var part = Part.head

    /// Whether no byte of the next request has arrived.
    var isIdle: Bool {
        if case .head = part { return unread.isEmpty }
        return false
    }

    mutating func append(_ bytes: [UInt8]) { unread += bytes }

    /// Returns the next event; `nil` if more data must arrive first.
    mutating func next() -> Event? {
        switch part {
        case .head:
            guard let head = take(upTo: "\r\n\r\n") else { return nil }
            part = Self.part(after: String(decoding: head, as: UTF8.self).lowercased())
            return .head(head)
        case .body(0):
            part = .head
            return .end
        case .body(let left):
            guard let bytes = take(atMost: left) else { return nil }
            part = .body(left: left - bytes.count)
            return .body(bytes)
        case .chunkSize:
            guard let line = take(upTo: "\r\n") else { return nil }
            let size = Int(String(decoding: line, as: UTF8.self), radix: 16) ?? 0
            part = size > 0 ? .chunk(left: size) : .lastLine
            return next()
        case .chunk(let left):
            guard let bytes = take(atMost: left) else { return nil }
            part = left == bytes.count ? .chunkEnd : .chunk(left: left - bytes.count)
            return .body(bytes)
        case .chunkEnd:
            guard take(upTo: "\r\n") != nil else { return nil }
            part = .chunkSize
            return next()
        case .lastLine:
            guard let line = take(upTo: "\r\n") else { return nil }
            if line.isEmpty { part = .body(left: 0) }
            return next()
        }
    }

    private static func part(after head: String) -> Part {
        for line in head.split(separator: "\r\n") {
            if line.hasPrefix("transfer-encoding:"), line.contains("chunked") { return .chunkSize }
            if line.hasPrefix("content-length:") {
                let digits = line.dropFirst("content-length:".count).filter(\.isNumber)
                return .body(left: Int(digits) ?? 0)
            }
        }
        return .body(left: 0)
    }

    private mutating func take(upTo separator: String) -> [UInt8]? {
        let separator = Array(separator.utf8)
        guard let end = Text.firstIndex(of: separator, in: unread, from: 0) else { return nil }
        defer { unread.removeFirst(end + separator.count) }
        return Array(unread[..<end])
    }

    private mutating func take(atMost count: Int) -> [UInt8]? {
        guard !unread.isEmpty else { return nil }
        let taken = Array(unread.prefix(count))
        unread.removeFirst(taken.count)
        return taken
    }
}
