import Foundation
import NetworkTesting
import TrialSupport

/// The random behavior of the server on one connection: mostly valid responses, and sometimes faults.
///
/// Every head contains the true length of the body in `X-Length`, to check bodies that are reported as whole.
struct Faults {
    /// The client, which decides which faults are possible: URLSession does not survive all of them.
    enum Client: String { case curl, urlsession }

    let client: Client
    /// Whether requests of the round have bodies. URLSession does not survive a reused connection that breaks then.
    let hasBodies: Bool

    func script(using random: inout SeededGenerator) -> Script {
        let isOneShot = client == .urlsession && hasBodies
        let good = Int.random(in: 0...(isOneShot ? 0 : 4), using: &random)
        var steps: [Script.Step] = []
        for _ in 0..<good { steps += [.read] + Self.answer(keeps: true, using: &random) }
        return Script(steps + end(isOneShot: isOneShot, using: &random))
    }

    /// Returns the steps that end a connection.
    private func end(isOneShot: Bool, using random: inout SeededGenerator) -> [Script.Step] {
        let length = Int.random(in: 200...40_000, using: &random)
        let head = Self.head(length: length)
        let part = PatternBytes.make(count: length / 2)
        let kind = Int.random(in: 0..<(client == .curl ? 22 : 17), using: &random)
        switch kind {
        case 0..<6: return [.read] + Self.answer(keeps: false, using: &random) + [.close]
        case 6: return [.read, .send(head), .send(part), .reset]
        case 7: return [.read, .send(head), .send(part), .close]
        case 8: return [.read, .send(head), .send(part), .stall]
        case 9: return [.read, .stall]
        case 10: return isOneShot ? [.read] + Self.answer(keeps: false, using: &random) : [.read, .close]
        case 11: return isOneShot ? [.read] + Self.answer(keeps: false, using: &random) : [.read, .reset]
        case 12:
            let chunks = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nX-Length: 9\r\n\r\n3\r\nabc\r\nzz\r\nabc\r\n"
            return [.read, .send(chunks), .close]
        case 13: return [.read, .send("220 mail.example ESMTP\r\n"), .close]
        case 14:
            let refusal = Script.head(
                413, fields: [("Connection", "close"), ("Content-Length", "0"), ("X-Length", "0")])
            return [.readHead, .send(refusal), .close]
        case 15:
            let bytes = PatternBytes.make(count: 300)
            return [.read, .sendSplit(Self.head(length: 300) + bytes, each: 50, pause: .milliseconds(2)), .close]
        case 16: return [.read, .send("HTTP/1.1 200 OK\r\nX-Length: \(length)\r\n\r\n"), .send(part), .reset]
        case 17: return [.read, .send(head.prefix(40)), .close]
        case 18: return [.read, .send(head.prefix(40)), .stall]
        case 19:
            let trailers =
                "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nX-Length: 0\r\n\r\n0\r\nX-After: it\r\n\r\n"
            return [.read, .send(trailers), .close]
        case 20: return [.read, .send("HTTP/1.1 200 OK\r\n"), .flood(Data("X-Field: a value\r\n".utf8))]
        default: return [.read, .flood(Data("HTTP/1.1 103 Early Hints\r\n\r\n".utf8))]
        }
    }

    /// Returns a valid response.
    /// - Parameter keeps: Whether the connection stays open.
    private static func answer(keeps: Bool, using random: inout SeededGenerator) -> [Script.Step] {
        let length =
            random.oneIn(10) ? Int.random(in: 0...400_000, using: &random) : Int.random(in: 0...4_000, using: &random)
        let body = PatternBytes.make(count: length)
        let close = keeps ? "" : "Connection: close\r\n"
        switch Int.random(in: 0..<6, using: &random) {
        case 0:
            var bytes = Data(
                "HTTP/1.1 200 OK\r\n\(close)Transfer-Encoding: chunked\r\nX-Length: \(length)\r\n\r\n".utf8)
            var rest = body[...]
            while !rest.isEmpty {
                let piece = rest.prefix(Int.random(in: 1...30_000, using: &random))
                bytes += Data("\(String(piece.count, radix: 16))\r\n".utf8) + piece + Data("\r\n".utf8)
                rest = rest.dropFirst(piece.count)
            }
            return [.send(bytes + Data("0\r\n\r\n".utf8))]
        case 1:
            let packed = Gzip.stored(body)
            let fields = "\(close)Content-Encoding: gzip\r\nContent-Length: \(packed.count)\r\nX-Length: \(length)\r\n"
            return [.send(Data("HTTP/1.1 200 OK\r\n\(fields)\r\n".utf8) + packed)]
        case 2:
            let moved = "HTTP/1.1 302 Found\r\n\(close)Location: /elsewhere\r\nContent-Length: 0\r\nX-Length: 0\r\n\r\n"
            return [.send(moved)]
        case 3 where !keeps:
            return [.send(Data("HTTP/1.1 200 OK\r\n\(close)X-Length: \(length)\r\n\r\n".utf8) + body)]
        default: return [.send(head(length: length, close)), .send(body)]
        }
    }

    private static func head(length: Int, _ more: String = "") -> Data {
        Data("HTTP/1.1 200 OK\r\n\(more)Content-Length: \(length)\r\nX-Length: \(length)\r\n\r\n".utf8)
    }
}
