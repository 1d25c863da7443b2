import Foundation
import TrialSupport

/// The peer's response to a request that it has read, byte for byte.
struct PeerAnswer {
    let exchange: PeerExchange

    init(_ exchange: PeerExchange) { self.exchange = exchange }

    static let digest = "Digest realm=\"r\", nonce=\"n1\", qop=\"auth\", algorithm=MD5"
    static let challenges =
        "WWW-Authenticate: NTLM\r\nWWW-Authenticate: Negotiate\r\nWWW-Authenticate: \(digest)\r\n"
        + "WWW-Authenticate: Basic realm=\"r\"\r\n"
    static let proxyChallenge =
        "HTTP/1.1 407 No\r\nProxy-Authenticate: \(digest)\r\nProxy-Authenticate: Basic realm=\"r\"\r\n"
        + "Content-Length: 0\r\n\r\n"

    var log: PeerLog { exchange.connection.peer.log }
    /// The text of the body, which names the request that it belongs to.
    var text: String { "answer to /" + exchange.parts.joined(separator: "/") + "\n" }
    var isHead: Bool { exchange.method == "HEAD" }

    /// Sends the response.
    /// - Returns: Whether the connection continues.
    func run() -> Bool {
        if exchange.isLookUp { return PeerNames(exchange).run() }
        return challenge() ?? whole() ?? broken() ?? odd() ?? ok()
    }

    func ok(_ more: String = "", status: String = "200 OK", version: String = "HTTP/1.1") -> Bool {
        exchange.send(okText(more, status: status, version: version))
    }

    func okText(_ more: String = "", status: String = "200 OK", version: String = "HTTP/1.1") -> String {
        let body = isHead ? "" : text
        return
            "\(version) \(status)\r\nX-Peer: isolation\r\n\(more)Content-Length: \(text.utf8.count)\r\n\r\n\(body)"
    }

    var surplus: String {
        exchange.outcome.hasPrefix("surplus-answer")
            ? "HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nforged" : "surplus bytes that belong to no answer"
    }

    /// Sends the challenges of authentication.
    private func challenge() -> Bool? {
        switch exchange.outcome {
        case "challenge-401" where exchange.field("authorization") == nil:
            return ok(Self.challenges, status: "401 No")
        case "challenge-again": return ok(Self.challenges, status: "401 No")
        case "challenge-404":
            return ok(Self.challenges, status: exchange.field("authorization") == nil ? "401 No" : "404 No")
        case "challenge-surplus" where exchange.field("authorization") == nil:
            // A response that no request asked for, in one piece with the challenge.
            return exchange.send(
                okText(Self.challenges, status: "401 No") + "HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nforged")
        case "challenge-close" where exchange.field("authorization") == nil:
            _ = ok(Self.challenges + "Connection: close\r\n", status: "401 No")
            return false
        case "challenge-407" where exchange.field("proxy-authorization") == nil && isByProxy:
            return exchange.send(Self.proxyChallenge)
        case "http10-401":
            return ok(
                "WWW-Authenticate: \(Self.digest)\r\nConnection: keep-alive\r\n", status: "401 No", version: "HTTP/1.0")
        case "http10-407" where isByProxy:
            let keeps = "Proxy-Authenticate: \(Self.digest)\r\nConnection: keep-alive\r\n"
            return ok(keeps, status: "407 No", version: "HTTP/1.0")
        default: return nil
        }
    }

    private var isByProxy: Bool { exchange.connection.way[0].hasPrefix("proxy") }

    /// Sends valid responses of every form.
    private func whole() -> Bool? {
        switch exchange.outcome {
        case "close":
            _ = ok("Connection: close\r\n")
            return false
        case "hold":
            let step = exchange.step ?? 0
            log.signal("holding s\(step)").fire()
            log.signal("release s\(step)").block()
            return ok()
        case "decoy":
            log.signal("decoy \(exchange.parts.last ?? "")").fire()
            log.signal("decoys").block()
            return ok()
        case "prelude", "http10", "http10-known":
            return ok("Connection: keep-alive\r\nProxy-Connection: keep-alive\r\n", version: "HTTP/1.0")
        case "http10-close":
            _ = ok(version: "HTTP/1.0")
            return false
        case "chunked":
            let size = String(text.utf8.count, radix: 16)
            let body = isHead ? "" : "\(size)\r\n\(text)\r\n0\r\nX-After: it\r\n\r\n"
            return exchange.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: X-After\r\n\r\n\(body)")
        case "interim":
            exchange.send("HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\nHTTP/1.1 102 Processing\r\n\r\n")
            return ok()
        case "empty": return exchange.send("HTTP/1.1 204 No Content\r\n\r\n")
        case "not-found": return ok(status: "404 Not Found")
        case "unavailable": return ok("Retry-After: 0\r\n", status: "503 Busy")
        case "cookies":
            return ok("Set-Cookie: session=cookie-of-\(exchange.parts.last ?? ""); Path=/\r\n")
        case "redirect":
            return ok("Location: \(redirectTarget)\r\n", status: "302 Found")
        case "redirect-307":
            return ok("Location: \(redirectTarget)\r\n", status: "307 Temporary Redirect")
        case "gzip", "gzip-broken": return packed(isBroken: exchange.outcome == "gzip-broken")
        case "large": return large()
        default: return nil
        }
    }

    /// The target of redirects on the other origin, which sends a valid response.
    private var redirectTarget: String {
        "http://127.0.0.1:\(exchange.connection.peer.two)/ok/s\(exchange.step ?? 0)/\(exchange.parts.last ?? "")"
    }

    private func packed(isBroken: Bool) -> Bool {
        let plain = "a body that was packed\n"
        var bytes = StoredGzip.of(Array(plain.utf8))
        if isBroken { bytes[12] ^= 0x55 }
        exchange.send("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: \(bytes.count)\r\n\r\n")
        return isHead ? true : exchange.connection.send(bytes)
    }

    private func large() -> Bool {
        let count = 300_000
        exchange.send("HTTP/1.1 200 OK\r\nContent-Length: \(count)\r\n\r\n")
        return isHead ? true : exchange.connection.send([UInt8](repeating: 0x61, count: count))
    }
}
