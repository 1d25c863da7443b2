/// The peer's proxies, for CONNECT and SOCKS. The tunneled data comes over the same connection.
extension PeerConnection {
    /// Accepts or refuses a CONNECT request.
    /// - Returns: Whether the connection continues.
    func acceptTunnel(_ head: String, to place: String) -> Bool {
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
        // The proxy decides whether Digest is required, and the sharing rules cover the user.
        let asked = Wire.normalised(peer.place(head)).replacing(
            /Proxy-Authorization: Digest [^\r]*\r\n/, with: "")
        way.append("tunnel to \(peer.place(place)) by \(asked.replacing("\r\n", with: "|"))")
        return send(Array("HTTP/1.1 200 OK\r\n\r\n".utf8))
    }

    func acceptSOCKS(version: UInt8) -> Bool {
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
}

extension Peer {
    /// Returns a text with names in place of ports, so that two runs of a unit give the same text.
    func place(_ text: String) -> String {
        var text = text
        for (port, name) in [(one, "one"), (two, "two"), (proxy, "proxy"), (silent, "silent")] {
            text = text.replacing(":\(port)", with: ":\(name)")
        }
        return text
    }
}
