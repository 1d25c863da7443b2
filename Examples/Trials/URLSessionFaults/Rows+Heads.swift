import Foundation
import FoundationNetworking
import NetworkTesting

/// Unusual heads, valid and invalid.
extension URLSessionFaults {
    static let heads: [FaultRow] = [
        odd("no-space", "a header line without a space after its colon", Data("HTTP/1.1 200 OK\r\nX-A:1\r\n".utf8)),
        odd("latin-1", "a header value in Latin-1", Data("HTTP/1.1 200 OK\r\nX-A: caf".utf8) + [0xE9, 13, 10]),
        odd("bare-lf", "header lines that end in LF alone", Data("HTTP/1.1 200 OK\nX-A: 1\n".utf8), lineEnd: "\n"),
        odd("no-reason", "a status line without a reason", Data("HTTP/1.1 200\r\n".utf8)),
        FaultRow(
            "other-case",
            "two fields whose names differ in case",
            .raw("HTTP/1.1 200 OK\r\nX-A: 1\r\nx-a: 2\r\nContent-Length: 2\r\n\r\nok"),
            isRight: { ["1 | 2", "1, 2"].contains($0.said) }
        ) { probe in
            guard probe.subject == .raw, let url = URL(string: probe.url) else {
                return try await probe.send(Ask()).values("X-A").joined(separator: " | ")
            }
            let (_, response) = try await RawClient.session.data(from: url)
            return (response as? HTTPURLResponse)?.value(forHTTPHeaderField: "X-A") ?? "nothing"
        },
        FaultRow(
            "set-cookie",
            "two Set-Cookie fields",
            .raw("HTTP/1.1 200 OK\r\nSet-Cookie: a=1\r\nSet-Cookie: b=2\r\nContent-Length: 2\r\n\r\nok"),
            excluded: [.urlsession],
            isRight: { $0.said == "a=1 | b=2" },
            probe: { try await $0.send(Ask()).values("Set-Cookie").joined(separator: " | ") }
        ),
        FaultRow(
            "early-hints",
            "103 Early Hints before the response",
            .raw("HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"),
            isRight: { $0.said == "200 'ok'" }
        ) { probe in
            guard probe.subject == .raw else { return try await probe.send(Ask()).text }
            let delegate = RawDelegate()
            let session = URLSession(configuration: .default, delegate: delegate, delegateQueue: nil)
            guard let request = RawClient.request(Ask(), to: probe.url) else { return "no URL" }
            session.dataTask(with: request).resume()
            await delegate.end()
            let seen = delegate.seen
            let statuses = seen.statuses.map { "\($0)" }.joined(separator: ", then ")
            return "\(statuses) '\(String(decoding: seen.body, as: UTF8.self))'"
        },
    ]

    private static func odd(_ id: String, _ what: String, _ head: Data, lineEnd: String = "\r\n") -> FaultRow {
        let rest = Data("Content-Length: 2\(lineEnd)\(lineEnd)ok".utf8)
        return FaultRow(
            id,
            what,
            .raw(head + rest),
            excluded: [.urlsession],
            isRight: { $0.said == "200 'ok'" }
        )
    }
}
