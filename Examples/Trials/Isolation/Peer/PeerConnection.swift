import Foundation

/// One connection of the peer, on a thread of its own: it finds out what is spoken and goes on as that.
final class PeerConnection {
    let socket: PeerSocket
    let number: Int
    let peer: Peer
    var way: [String]
    /// How many requests came over it.
    var position = 0
    var input: [UInt8] = []
    /// What was spoken before as a tunnel is named once.
    var isAuthenticated = false

    init(_ socket: PeerSocket, number: Int, way: [String], peer: Peer) {
        (self.socket, self.number, self.way, self.peer) = (socket, number, way, peer)
    }

    func run() {
        while let first = peek() {
            switch first {
            case 0x16: return speakTLS()
            case 4, 5: guard acceptSOCKS(version: first) else { return }
            default:
                guard let head = readHead() else { return }
                guard answer(head) else { return peer.log.write(".close", of: number) }
            }
        }
    }

    /// Reads and says nothing, until the other side ends it.
    func beSilent() {
        peer.log.signal("silent").fire()
        peer.log.signal("silent s\(peer.log.current.step)").fire()
        var total = 0
        while case .bytes(let bytes) = socket.receive(), total < 1 << 24 { total += bytes.count }
    }

    /// Sends, and writes it down.
    @discardableResult
    func send(_ bytes: [UInt8]) -> Bool {
        peer.log.write(".send(\(SwiftText.literal(bytes)))", of: number)
        return socket.send(bytes)
    }

    /// Ends with RST.
    func reset() {
        peer.log.write(".reset", of: number)
        socket.resetOnClose()
    }

    // MARK: Reading

    func peek() -> UInt8? { fill(1) ? input[0] : nil }

    /// Whether that many bytes are there.
    func fill(_ count: Int) -> Bool {
        while input.count < count {
            guard case .bytes(let bytes) = socket.receive() else { return false }
            input += bytes
        }
        return true
    }

    func take(_ count: Int) -> [UInt8]? {
        guard fill(count) else { return nil }
        defer { input.removeFirst(count) }
        return Array(input[..<count])
    }

    /// A head with its blank line, or the front's one line.
    private func readHead() -> [UInt8]? {
        while true {
            let isFront = input.starts(with: Array("TLSFRONT ".utf8))
            let end = isFront ? Array("\n".utf8) : Array("\r\n\r\n".utf8)
            if let range = input.firstRange(of: end) {
                defer { input.removeFirst(range.upperBound) }
                return Array(input[..<range.upperBound])
            }
            guard input.count < 2 << 20, fill(input.count + 1) else { return nil }
        }
    }

    /// - Returns: Whether the connection goes on.
    private func answer(_ bytes: [UInt8]) -> Bool {
        let head = String(decoding: bytes, as: UTF8.self)
        let words = head.prefix { $0 != "\r\n" && $0 != "\n" }.split(separator: " ").map(String.init)
        switch words.first {
        case "TLSFRONT" where words.count > 4:
            way = peer.way(from: Int(words[1]) ?? 0) + ["TLS " + words[2...].joined(separator: " ")]
            return true
        case "CONNECT" where words.count > 1: return acceptTunnel(head, to: words[1])
        case "PRI":
            return speakHTTP2()
        default: return PeerExchange(self, head: head, target: words.count > 1 ? words[1] : "").run()
        }
    }

    // MARK: TLS

    /// Passes everything on to the program that speaks TLS, which then comes back with what was inside.
    private func speakTLS() {
        let outcome = peer.log.current.outcome
        if outcome == "tls-reset" { return socket.resetOnClose() }
        if outcome == "tls-garbage" {
            socket.send(Array("HTTP/1.1 400 Bad Request\r\n\r\n".utf8))
            return
        }
        guard let inner = try? PeerSocket.connected(to: peer.front) else { return }
        defer { inner.close() }
        peer.remember(way, from: inner.name().port)
        guard inner.send(input) else { return }
        input = []
        let (outer, isDone) = (socket, DispatchSemaphore(value: 0))
        Thread.detachNewThread {
            Self.pass(from: inner, to: outer)
            isDone.signal()
        }
        Self.pass(from: outer, to: inner)
        isDone.wait()
    }

    private static func pass(from source: PeerSocket, to sink: PeerSocket) {
        while true {
            switch source.receive(milliseconds: 60_000) {
            case .bytes(let bytes): if sink.send(bytes) { continue }
            case .reset: sink.resetOnClose()
            case .end, .nothing: break
            }
            // Either side's end is the end of both: no request of this trial goes on with half a connection.
            sink.interrupt()
            source.interrupt()
            return
        }
    }
}
