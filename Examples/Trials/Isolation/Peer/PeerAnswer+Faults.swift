import Foundation

extension PeerAnswer {
    /// Sends responses that break off, or no response.
    func broken() -> Bool? {
        switch exchange.outcome {
        case "waiting-reset":
            exchange.connection.reset()
            return false
        case "silent-close": return false
        case "close-if-kept": return exchange.isFirst ? ok() : false
        case "waiting-stall", "idle-stall", "first-byte-stall": return stall()
        case "body-reset", "body-truncated", "body-stall", "body-cancel", "body-dropped", "head-reset":
            let isHeadBroken = exchange.outcome == "head-reset"
            exchange.send(
                isHeadBroken ? "HTTP/1.1 200 OK\r\nX-Half" : "HTTP/1.1 200 OK\r\nContent-Length: 9000\r\n\r\nhalf")
            if isHead { return false }
            if exchange.outcome == "body-truncated" { return false }
            if exchange.outcome == "body-reset" || isHeadBroken {
                exchange.connection.reset()
                return false
            }
            return stall()
        default: return nil
        }
    }

    private func stall() -> Bool {
        log.write(".stall", of: exchange.connection.number)
        log.signal("done s\(exchange.step ?? 0)").block()
        return false
    }

    /// Sends responses that no peer should send.
    func odd() -> Bool? {
        switch exchange.outcome {
        case "surplus", "surplus-answer":
            return exchange.send(okText() + surplus)
        case "surplus-answer-with-body":
            // Over TLS, the record of the body is not read beyond the end of the body. The body is a record of its own
            // if the front has already read the head; otherwise the outcome is the same as 'surplus-answer'.
            let parts = okText().split(separator: "\r\n\r\n", maxSplits: 1, omittingEmptySubsequences: false)
            exchange.send("\(parts[0])\r\n\r\n")
            Thread.sleep(forTimeInterval: 0.002)
            return exchange.send("\(parts[1])\(surplus)")
        case "surplus-late", "surplus-answer-late":
            // The surplus comes after the client has read the response: the runner continues once the surplus is there.
            _ = ok()
            log.signal("read s\(exchange.step ?? 0)").block()
            exchange.connection.sendSurplus(surplus)
            log.signal("surplus s\(exchange.step ?? 0)").fire()
            return true
        case "bad-line":
            exchange.send("220 mail.example ESMTP\r\n\r\n")
            return false
        case "bad-first-field":
            exchange.send(
                "HTTP/1.1 200 OK\r\n\tX: y\r\nServer: test-server-of-some-length\r\nContent-Length: 0\r\n\r\n")
            return false
        case "folded":
            let body = isHead ? "" : "folded"
            exchange.send(
                "HTTP/1.1 200 OK\r\nX-A: \(filler)\r\n more\r\n\tand more\r\nContent-Length: 6\r\n\r\n\(body)")
            return true
        case "huge-head":
            exchange.send("HTTP/1.1 200 OK\r\nX-A: \(String(repeating: filler, count: 4_000))\r\n\r\n")
            return false
        case "bad-length":
            exchange.send("HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 7\r\n\r\nhello")
            return false
        case "length-list": return framed("Content-Length: \(text.utf8.count), 400")
        case "length-word": return framed("Content-Length: \(text.utf8.count)x")
        case "chunked-twice": return framed("Transfer-Encoding: chunked, chunked", inChunks: true)
        case "length-and-chunks": return framed("Content-Length: 400\r\nTransfer-Encoding: chunked", inChunks: true)
        case "http10-chunked":
            let lines = "Connection: keep-alive\r\nContent-Length: 400\r\nTransfer-Encoding: chunked"
            return framed(lines, inChunks: true, status: "HTTP/1.0 200 OK")
        case "length-on-204": return framed("Content-Length: 400", hasBody: false, status: "HTTP/1.1 204 No Content")
        case "surplus-behind-chunks":
            return framed("Transfer-Encoding: chunked", inChunks: true, more: Self.unasked)
        case "surplus-behind-204":
            return framed("X-A: b", hasBody: false, status: "HTTP/1.1 204 No Content", more: Self.unasked)
        case "http2-line": return framed("Content-Length: \(text.utf8.count)", status: "HTTP/2 200")
        case "bad-chunk":
            exchange.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\nzz\r\n")
            return false
        default: return nil
        }
    }

    /// Sends a whole body after framing fields that contradict it. The next request on the connection gets what the
    /// other interpretation leaves over.
    private func framed(
        _ lines: String, inChunks: Bool = false, hasBody: Bool = true, status: String = "HTTP/1.1 200 OK",
        more: String = ""
    ) -> Bool {
        let size = String(text.utf8.count, radix: 16)
        let body = !hasBody || isHead ? "" : inChunks ? "\(size)\r\n\(text)\r\n0\r\n\r\n" : text
        let response = "\(status)\r\n\(lines)\r\n\r\n\(body)\(more)"
        guard exchange.send(response), exchange.connection.fill(1) else { return false }
        exchange.send("HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nforged")
        return false
    }

    /// The head of a response that belongs to no request.
    private static let unasked = "HTTP/1.1 200 OK\r\nContent-Length: 400\r\n\r\n"

    private var filler: String { String(repeating: "filler ", count: 20) }
}
