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
    /// Whether a part of the reply was sent after the next request had arrived. No client can tell such bytes from the
    /// response to that request.
    var crosses = false

    /// The most bytes of a body or a reply that are kept.
    static let maximumKept = 65_536

    init(head: [UInt8], connection: Int) {
        (self.head, self.connection) = (head, connection)
        let target = String(decoding: head.prefix(while: { $0 != 0x0D }), as: UTF8.self)
        ask = Self.number(after: "/q", before: "/", in: target) ?? Self.number(after: "q", before: ".test", in: target)
        good = Self.number(after: "/good", before: "/", in: target)
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
    var method: String { String(text.prefix { $0 != " " }) }

    /// Returns the values of all fields with a name, which must be lowercase.
    func values(of name: String) -> [String] {
        text.split(separator: "\r\n").dropFirst().compactMap { line in
            let parts = line.split(separator: ":", maxSplits: 1)
            guard parts.count == 2, parts[0].lowercased() == name else { return nil }
            return String(parts[1].drop { $0 == " " })
        }
    }
}
