/// Just enough of HTTP/2 (RFC 9113) to send a 200 to each request. The fields stay compressed, as received.
extension PeerConnection {
    /// Serves HTTP/2 until the connection ends.
    /// - Returns: Always `false`: the connection is over.
    func speakHTTP2() -> Bool {
        // The rest of the preface, then an empty SETTINGS frame.
        guard take(6) != nil else { return false }
        socket.send([0, 0, 0, 4, 0, 0, 0, 0, 0])
        while let head = take(9) {
            let length = Int(head[0]) << 16 | Int(head[1]) << 8 | Int(head[2])
            guard take(length) != nil else { return false }
            let (isSettings, isHeaders) = (head[3] == 4, head[3] == 1)
            if isSettings, head[4] & 1 == 0 { socket.send([0, 0, 0, 4, 1, 0, 0, 0, 0]) }
            guard isHeaders || head[3] == 0 else { continue }
            if isHeaders { noteRequest() }
            let isLast = head[4] & 1 == 1
            // HEADERS with END_STREAM: `:status` 200 is entry 8 of the static table.
            if isLast { socket.send([0, 0, 1, 1, 5] + head[5...] + [0x88]) }
        }
        return false
    }

    /// Notes a request without its fields: how they are packed depends on the requests before.
    private func noteRequest() {
        let text = "HTTP/2 fields"
        _ = peer.log.add(
            SeenRequest(
                connection: number, position: position, way: way, head: text, isWhole: true,
                step: peer.log.current.step, isPacked: true))
        position += 1
    }
}
