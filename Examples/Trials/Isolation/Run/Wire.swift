import Foundation

/// What the peer saw of a step, in lines that two runs have alike.
enum Wire {
    /// What may differ between two runs of the same request, and why.
    static let normalisations: [(name: String, reason: String)] = [
        (
            "reused connections",
            "a kept connection may serve a request whose options allow it; the sharing rules judge which"
        ),
        ("times", "durations are measured and not compared"),
        ("nonces", "cnonce and the response of a Digest, NTLM's third message and a signature's time differ by design"),
        (
            "the count of bytes sent in chunks",
            "how a stream is cut into chunks is a matter of time; the body itself is compared"
        ),
        ("lookups over HTTPS", "an address that is still known need not be asked for again"),
        ("CONNECT heads", "a kept tunnel has no new one; the one that made it is part of the request's way"),
    ]

    /// - Parameter isPacked: Whether the step's requests are: others that are have come late, and belong to a step
    ///   before.
    static func lines(of step: Int, in requests: [SeenRequest], isPacked: Bool) -> [String] {
        var lines: [String] = []
        for request in requests {
            if request.step != step || request.isPacked != isPacked { continue }
            if request.isHelper || request.isLookUp || request.isTunnel { continue }
            lines.append("by " + request.way.joined(separator: ", "))
            for line in normalised(request.head).split(separator: "\r\n") { lines.append("> \(line)") }
            lines.append(request.isWhole ? "> body \(request.body.text)" : "> body not whole")
        }
        return lines
    }

    static func normalised(_ head: String) -> String {
        var text = head
        text = text.replacing(/cnonce="[^"]*"/, with: "cnonce=…").replacing(/response="[^"]*"/, with: "response=…")
        text = text.replacing(/NTLM TlRMTVNTUAADA[A-Za-z0-9+\/=]*/, with: "NTLM …")
        text = text.replacing(/Signature=[0-9a-f]*/, with: "Signature=…")
        return text.replacing(/\d{8}T\d{6}Z/, with: "TIME").replacing(/\/\d{8}\//, with: "/DAY/")
    }
}

extension SeenRequest {
    var isLookUp: Bool { head.contains("/dns-query HTTP") }
    var isTunnel: Bool { head.hasPrefix("CONNECT ") }
    /// Whether it made its connection one of a user's.
    var namesConnection: Bool { head.contains("uthorization: NTLM") || head.contains("uthorization: Negotiate") }
    /// Whether a server would have acted on it, and must not do so twice.
    var isExecution: Bool {
        !isHelper && !isTunnel && !isLookUp && isWhole && (head.hasPrefix("POST") || head.hasPrefix("PATCH"))
    }
}
