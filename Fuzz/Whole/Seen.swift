/// One request as the peer received it on the wire.
struct Seen {
    /// The number of the scenario's request that it belongs to, from its URL; `nil` if the URL has none.
    var ask: Int?
    /// The number of the ordinary request after the scenario, if it is one.
    var good: Int?
    /// The number of earlier requests with the same number.
    var exchange = 0
    /// The number of the connection.
    let connection: Int
    var head: [UInt8]
    var body: [UInt8] = []
    /// The bytes that the peer has sent in reply.
    var replied: [UInt8] = []
    var method: String
    /// Whether it is a stream of HTTP/2; its head is a header block.
    let isStream: Bool
    /// Whether the peer has said that it did not process the request (RFC 9113 §8.7).
    var isRefused = false
    /// Whether a part of the reply was sent after the next request had arrived. No client can tell such bytes from the
    /// response to that request.
    var crosses = false

    /// The most bytes of a body or a reply that are kept.
    static let maximumKept = 65_536

    init(head: [UInt8], connection: Int) {
        (self.head, self.connection, isStream) = (head, connection, false)
        method = String(decoding: head.prefix { $0 != 0x20 }, as: UTF8.self)
        let target = String(decoding: head.prefix(while: { $0 != 0x0D }), as: UTF8.self)
        ask = Self.number(after: "/q", before: "/", in: target) ?? Self.number(after: "q", before: ".test", in: target)
        good = Self.number(after: "/good", before: "/", in: target)
    }

    /// Creates a request from the header block of HTTP/2, in which only the path is read.
    init(block: [UInt8], connection: Int) {
        (head, self.connection, isStream, method) = (block, connection, true, "")
        ask = Self.number(
            after: PeerAddress.plainPath + "/q", before: "/", in: String(decoding: block, as: UTF8.self))
    }

    private static func number(after start: String, before end: String, in text: String) -> Int? {
        for range in text.utf8.indices where text.utf8[range...].starts(with: start.utf8) {
            let rest = text.utf8[range...].dropFirst(start.utf8.count)
            let digits = rest.prefix { (0x30...0x39).contains($0) }
            guard !digits.isEmpty, rest[digits.endIndex...].starts(with: end.utf8) else { continue }
            return Int(String(digits) ?? "")
        }
        return nil
    }

    var text: String { String(decoding: head, as: UTF8.self) }

    /// Returns the values of all fields with a name, which must be lowercase.
    func values(of name: String) -> [String] {
        text.split(separator: "\r\n").dropFirst().compactMap { line in
            let parts = line.split(separator: ":", maxSplits: 1)
            guard parts.count == 2, parts[0].lowercased() == name else { return nil }
            return String(parts[1].drop { $0 == " " })
        }
    }
}
