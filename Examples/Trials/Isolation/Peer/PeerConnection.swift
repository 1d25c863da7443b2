import Foundation

/// One connection of the peer, on its own thread: it detects the protocol and serves it.
final class PeerConnection {
    let socket: PeerSocket
    let number: Int
    let peer: Peer
    var way: [String]
    /// The number of requests received on it.
    var position = 0
    var input: [UInt8] = []
    /// The TLS connection that this connection came out of.
    private var outer: Int?
    /// Not used.
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

    /// Reads without sending anything, until the other side closes the connection.
    func beSilent() {
        peer.log.signal("silent").fire()
        peer.log.signal("silent s\(peer.log.current.step)").fire()
        var total = 0
        while case .bytes(let bytes) = socket.receive(), total < 1 << 24 { total += bytes.count }
    }

    /// Sends bytes, and records them.
    @discardableResult
    func send(_ bytes: [UInt8]) -> Bool {
        peer.log.write(".send(\(SwiftText.literal(bytes)))", of: number)
        return socket.send(bytes)
    }

    /// Sends bytes that belong to no response, and returns when the client has them: over TLS, once they are passed on.
    func sendSurplus(_ text: String) {
        let passed = outer.map { ($0, peer.log.passes(of: $0)) }
        guard send(Array(text.utf8)), let (outer, count) = passed else { return }
        peer.log.signal("passed \(outer) \(count + 1)").block()
    }

    /// Makes the connection end with RST.
    func reset() {
        peer.log.write(".reset", of: number)
        socket.resetOnClose()
    }

    // MARK: Reading

    func peek() -> UInt8? { fill(1) ? input[0] : nil }

    /// Returns whether the given number of bytes has arrived, and waits for them.
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

    /// Returns a head with its blank line, or the single line that the front sends.
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

    /// Serves one request, or the front's line.
    /// - Returns: Whether the connection continues.
    private func answer(_ bytes: [UInt8]) -> Bool {
        let head = String(decoding: bytes, as: UTF8.self)
        let words = head.prefix { $0 != "\r\n" && $0 != "\n" }.split(separator: " ").map(String.init)
        switch words.first {
        case "TLSFRONT" where words.count > 4:
            let origin = peer.way(from: Int(words[1]) ?? 0)
            way = (origin?.way ?? []) + ["TLS " + words[2...].joined(separator: " ")]
            outer = origin?.connection
            return true
        case "CONNECT" where words.count > 1: return acceptTunnel(head, to: words[1])
        case "PRI":
            return speakHTTP2()
        default:
            let exchange = PeerExchange(self, head: head, target: words.count > 1 ? words[1] : "")
            // A decoy's response waits for the end of the sequence.
            let isAwaited = exchange.outcome != "decoy"
            if isAwaited { peer.log.begin(on: number) }
            let goesOn = exchange.run()
            if isAwaited { peer.log.end(on: number, ending: goesOn ? nil : outer ?? number) }
            return goesOn
        }
    }

    // MARK: TLS

    /// Passes everything to the program that speaks TLS, which connects back with the decrypted data.
    private func speakTLS() {
        let outcome = peer.log.current.outcome
        if outcome == "tls-reset" { return socket.resetOnClose() }
        if outcome == "tls-garbage" {
            socket.send(Array("HTTP/1.1 400 Bad Request\r\n\r\n".utf8))
            return
        }
        guard let inner = try? PeerSocket.connected(to: peer.front) else { return }
        defer { inner.close() }
        peer.remember(way, of: number, from: inner.name().port)
        guard inner.send(input) else { return }
        input = []
        let (outer, isDone, log, number) = (socket, DispatchSemaphore(value: 0), peer.log, number)
        Thread.detachNewThread {
            Self.pass(from: inner, to: outer, begins: { log.passBegins(on: number) }) { log.passed(on: number) }
            isDone.signal()
        }
        Self.pass(from: outer, to: inner)
        isDone.wait()
    }

    private static func pass(
        from source: PeerSocket, to sink: PeerSocket, begins: () -> Void = {}, passed: () -> Void = {}
    ) {
        while true {
            switch source.receive(milliseconds: 60_000) {
            case .bytes(let bytes):
                begins()
                if sink.send(bytes) {
                    passed()
                    continue
                }
            case .reset: sink.resetOnClose()
            case .end, .nothing: break
            }
            // The end of one side ends both: no request of this trial continues on a half-closed connection.
            sink.interrupt()
            source.interrupt()
            return
        }
    }
}
