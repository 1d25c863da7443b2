import Foundation

/// The response of a route.
struct DemoResponse {
    enum Body {
        case data(Data)
        case pattern(count: Int)

        var count: Int {
            switch self {
            case .data(let data): data.count
            case .pattern(let count): count
            }
        }

        func piece(from offset: Int, count: Int) -> Data {
            switch self {
            case .data(let data): data.dropFirst(offset).prefix(count)
            case .pattern: PatternBytes.make(count: count, from: offset)
            }
        }
    }

    var status = 200
    var fields: [(name: String, value: String)] = []
    var body = Body.data(Data())
    /// The time before the response, in milliseconds.
    var delay = 0

    static func json(_ value: some Encodable, status: Int = 200) throws -> DemoResponse {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return DemoResponse(
            status: status,
            fields: [("Content-Type", "application/json")],
            body: .data(try encoder.encode(value))
        )
    }

    /// Sends the response; a `HEAD` request gets only the head.
    /// - Returns: Whether the peer took it.
    func send(to request: DemoRequest, over socket: LoopbackSocket) -> Bool {
        var fields = fields
        // Neither has a body, nor the length of one.
        if status != 204, status != 304 { fields.append(("Content-Length", "\(body.count)")) }
        // The status line has HTTP/1.1, whose connections go on unless they say otherwise.
        if !request.keepsConnection { fields.append(("Connection", "close")) }
        if request.keepsConnection, request.isHTTP10 { fields.append(("Connection", "keep-alive")) }
        let lines = fields.map { "\($0.name): \($0.value)\r\n" }.joined()
        var piece = Data("HTTP/1.1 \(status) \(DemoStatus.phrase(of: status))\r\n\(lines)\r\n".utf8)
        var (offset, end) = (0, request.method == "HEAD" ? 0 : body.count)
        while true {
            let count = min(65_536, end - offset)
            piece.append(body.piece(from: offset, count: count))
            guard socket.send(piece) else { return false }
            offset += count
            if offset == end { return true }
            piece = Data()
        }
    }
}
