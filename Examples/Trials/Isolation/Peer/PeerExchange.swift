import Foundation

/// One HTTP/1 request and its response.
final class PeerExchange {
    let connection: PeerConnection
    let head: String
    let method: String
    /// The parts of the path, `OUTCOME`, `sSTEP` and `KIND`, for every form of target.
    let parts: [String]
    let fields: [(name: String, value: String)]
    private let number: Int
    private var body = BodyDigest()
    /// The DNS query of a request to the name service.
    var question: [UInt8] { body.start }

    var outcome: String { parts.first ?? "ok" }
    var isHelper: Bool { ["hold", "prelude", "decoy"].contains(outcome) }
    var step: Int? { parts.count > 1 ? Int(parts[1].dropFirst()) : nil }
    var isFirst: Bool { connection.position == 0 }
    /// Whether the request is a lookup over HTTPS, which has no step in its path.
    var isLookUp: Bool { parts.first == "dns-query" }
    private var log: PeerLog { connection.peer.log }

    init(_ connection: PeerConnection, head: String, target: String) {
        self.connection = connection
        self.head = head
        let lines = head.split(separator: "\r\n", omittingEmptySubsequences: true)
        method = lines.first.flatMap { $0.split(separator: " ").first }.map(String.init) ?? ""
        fields = lines.dropFirst().compactMap { line in
            let sides = line.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
            guard sides.count == 2 else { return nil }
            return (sides[0].lowercased(), sides[1].trimmingCharacters(in: .whitespaces))
        }
        let path = target.firstRange(of: "://").map { target[$0.upperBound...].drop { $0 != "/" } } ?? target[...]
        parts = path.prefix { $0 != "?" }.split(separator: "/").map(String.init)
        let step = parts.count > 1 ? Int(parts[1].dropFirst()) : nil
        let isHelper = ["hold", "prelude", "decoy"].contains(parts.first)
        number = connection.peer.log.add(
            SeenRequest(
                connection: connection.number, position: connection.position, way: connection.way, head: head,
                step: step ?? connection.peer.log.current.step, isHelper: isHelper))
    }

    /// Reads the request and sends its response.
    /// - Returns: Whether the connection continues.
    func run() -> Bool {
        defer { connection.position += 1 }
        if let step { log.signal("head s\(step)").fire() }
        if let early = beforeBody() { return early }
        guard readBody() else { return false }
        log.write(".read", of: connection.number)
        log.update(number, body: body, isWhole: true)
        if let step, !isHelper { log.signal("body s\(step)").fire() }
        return PeerAnswer(self).run()
    }

    func field(_ name: String) -> String? { fields.first { $0.name == name }?.value }

    @discardableResult
    func send(_ text: String) -> Bool { connection.send(Array(text.utf8)) }

    /// Sends the responses that come before the body is read.
    /// - Returns: Whether the connection continues; `nil` to read the body.
    private func beforeBody() -> Bool? {
        let hasBody = field("content-length").map { $0 != "0" } ?? (field("transfer-encoding") != nil)
        if hasBody, ["sending-reset", "sending-stall", "early-close"].contains(outcome) {
            log.write(".readHead", of: connection.number)
        }
        switch outcome {
        case "sending-reset" where hasBody:
            connection.reset()
            return false
        case "sending-stall" where hasBody:
            log.write(".stall", of: connection.number)
            connection.peer.log.signal("sending s\(step ?? 0)").fire()
            connection.peer.log.signal("done s\(step ?? 0)").block()
            return false
        case "early-close" where hasBody:
            send("HTTP/1.1 413 Content Too Large\r\nConnection: close\r\nContent-Length: 0\r\n\r\n")
            return drain()
        case "early-keep" where hasBody:
            send("HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n")
            return readBody()
        case "early-ok" where hasBody:
            send(PeerAnswer(self).okText())
            return readBody()
        case "refused-expectation" where field("expect") != nil:
            send("HTTP/1.1 417 No\r\nContent-Length: 0\r\n\r\n")
            return readBody()
        case "early-401" where hasBody && field("authorization") == nil:
            send("HTTP/1.1 401 No\r\n\(PeerAnswer.challenges)Content-Length: 0\r\n\r\n")
            return readBody()
        default: break
        }
        if field("expect")?.lowercased() == "100-continue", outcome != "no-continue" {
            send("HTTP/1.1 100 Continue\r\n\r\n")
        }
        return nil
    }

    private func drain() -> Bool {
        connection.socket.finishSending()
        while case .bytes = connection.socket.receive() {}
        return false
    }

    private func readBody() -> Bool {
        if field("transfer-encoding")?.lowercased() == "chunked" { return readChunks() }
        return readBytes(Int(field("content-length") ?? "0") ?? 0)
    }

    private func readBytes(_ count: Int) -> Bool {
        var rest = count
        while rest > 0 {
            guard connection.fill(1) else {
                log.update(number, body: body, isWhole: false)
                return false
            }
            let part = min(rest, connection.input.count)
            body.add(connection.input[..<part])
            connection.input.removeFirst(part)
            rest -= part
        }
        return true
    }

    private func readChunks() -> Bool {
        while true {
            guard let line = readLine(), let size = Int(line.prefix { $0 != ";" }, radix: 16) else {
                log.update(number, body: body, isWhole: false)
                return false
            }
            if size == 0 { break }
            guard readBytes(size), connection.take(2) != nil else { return false }
        }
        while let line = readLine() { if line.isEmpty { return true } }
        return false
    }

    private func readLine() -> String? {
        var line: [UInt8] = []
        while let byte = connection.take(1)?.first {
            if byte == 10 { return String(decoding: line.last == 13 ? line.dropLast() : line[...], as: UTF8.self) }
            line.append(byte)
        }
        return nil
    }
}
