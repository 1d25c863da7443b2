import Foundation

/// The requests of a step as the peer received them, in lines that are the same in every run.
enum Wire {
    /// The parts that may differ between two runs of the same request, with the reasons.
    static let normalisations: [(name: String, reason: String)] = [
        (
            "reused connections",
            "a request may use a kept connection if its options allow it; the sharing rules judge which"
        ),
        ("times", "durations are measured and not compared"),
        ("nonces", "cnonce and the response of a Digest and a signature's time differ by design"),
        (
            "the count of bytes sent in chunks",
            "how a stream is split into chunks depends on timing; the body itself is compared"
        ),
        ("fields of HTTP/2", "how they are packed depends on the connection's requests before"),
        ("lookups over HTTPS", "an address that is still known needs no new lookup"),
        ("CONNECT heads", "a reused tunnel has no new one; the one that made it is part of the request's way"),
    ]

    /// Returns the lines of a step.
    /// - Parameter isPacked: Whether the step's requests have compressed fields. Other such requests are late and
    ///   belong to an earlier step.
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
        text = text.replacing(/Signature=[0-9a-f]*/, with: "Signature=…")
        return text.replacing(/\d{8}T\d{6}Z/, with: "TIME").replacing(/\/\d{8}\//, with: "/DAY/")
    }
}

extension SeenRequest {
    var isLookUp: Bool { head.contains("/dns-query HTTP") }
    var isTunnel: Bool { head.hasPrefix("CONNECT ") }
    /// Whether a server would execute it, and must not do so twice.
    var isExecution: Bool {
        !isHelper && !isTunnel && !isLookUp && isWhole && (head.hasPrefix("POST") || head.hasPrefix("PATCH"))
    }
}
