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

    // MARK: Proxies

    private func acceptTunnel(_ head: String, to place: String) -> Bool {
        let outcome = peer.log.current.outcome
        let step = peer.log.current.step
        peer.log.write(".read", of: number)
        _ = peer.log.add(
            SeenRequest(connection: number, position: position, way: way, head: head, isWhole: true, step: step))
        position += 1
        if outcome == "challenge-407", !head.lowercased().contains("proxy-authorization:") {
            return send(Array(PeerAnswer.proxyChallenge.utf8))
        }
        if outcome == "tunnel-refused" {
            send(Array("HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n".utf8))
            return false
        }
        way.append("tunnel to \(peer.place(place))")
        return send(Array("HTTP/1.1 200 OK\r\n\r\n".utf8))
    }

    private func acceptSOCKS(version: UInt8) -> Bool {
        if version == 4 {
            guard let head = take(8), take(untilZero: 256) != nil else { return false }
            if head[4] == 0, head[5] == 0, head[6] == 0, take(untilZero: 256) == nil { return false }
            way.append("SOCKS4")
            return socket.send([0, 90, 0, 0, 0, 0, 0, 0])
        }
        guard let hello = take(2), let methods = take(Int(hello[1])) else { return false }
        var user = ""
        if methods.contains(2) {
            socket.send([5, 2])
            guard let start = take(2), let name = take(Int(start[1])), let length = take(1),
                let password = take(Int(length[0]))
            else { return false }
            user = " as " + String(decoding: name + [0x3A] + password, as: UTF8.self)
            socket.send([1, 0])
        } else {
            socket.send([5, 0])
        }
        guard let ask = take(4), let rest = readAddress(ask[3]) else { return false }
        way.append("SOCKS5\(user) to \(rest)")
        return socket.send([5, 0, 0, 1, 127, 0, 0, 1, 0, 0])
    }

    private func readAddress(_ kind: UInt8) -> String? {
        switch kind {
        case 1: return take(6).map { "\($0[..<4].map(String.init).joined(separator: "."))" }
        case 3:
            guard let length = take(1), let name = take(Int(length[0])), take(2) != nil else { return nil }
            return String(decoding: name, as: UTF8.self)
        default: return take(18).map { _ in "IPv6" }
        }
    }

    private func take(untilZero limit: Int) -> [UInt8]? {
        var text: [UInt8] = []
        while text.count < limit, let byte = take(1)?.first {
            if byte == 0 { return text }
            text.append(byte)
        }
        return nil
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

extension Peer {
    /// The port's name, so that two runs of a unit say the same.
    func place(_ text: String) -> String {
        var text = text
        for (port, name) in [(one, "one"), (two, "two"), (proxy, "proxy"), (silent, "silent")] {
            text = text.replacing(":\(port)", with: ":\(name)")
        }
        return text
    }
}
