import Foundation
import CurlTransport
import Logging
import NetworkCore
import NetworkTesting
import TrialSupport

/// Responses and requests whose heads and chunks take time to process: they are near the limit, or have many parts.
extension Scenario {
    static let heads = [
        Scenario("heads of many fields") { try await ask($0, head(Self.filled("a:\n"))) },
        Scenario("heads of two large fields") { attempt in
            let field = "A: " + String(repeating: "x", count: 90_000) + "\r\n"
            try await ask(attempt, head(field + field))
        },
        Scenario("folded fields") { try await ask($0, head("a: b\r\n" + Self.filled(" c\n"))) },
        Scenario("interim heads") { attempt in
            try await ask(attempt, Self.filled("HTTP/1.1 103 E\n\n", 1_000_000) + head(""))
        },
        Scenario("heads of many fields, of one") { try await ask($0, head(Self.filled("a:\n")), atOnce: 1) },
        Scenario("folded fields, of one") { try await ask($0, head("a: b\r\n" + Self.filled(" c\n")), atOnce: 1) },
        Scenario("heads of odd fields, logged") { attempt in
            // Each field is as long as the longest one that the log shows, with a colon wherever one may be.
            for text in [":", "a:", "a=", "a b:", "\"a\":", "Bearer a "] {
                let field = "x: " + Self.filled(text, 4_000) + "\r\n"
                try await ask(attempt, head(Self.filled(field, 250_000)), atOnce: 4, isLogged: true)
            }
        },
        Scenario("chunks of one byte") { attempt in
            let chunks = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + Self.filled("1\r\nx\r\n", 2_000_000)
            try await ask(attempt, chunks + "0\r\n\r\n")
        },
        Scenario("trailers") { attempt in
            let start = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\n"
            try await ask(attempt, start + Self.filled("a:\n") + "\r\n")
        },
        Scenario("requests of many fields", perHost: 2, requests),
        Scenario("requests of long URLs", perHost: 2, targets),
    ]

    /// Returns a text repeated almost up to the limit of a head.
    private static func filled(_ text: String, _ bytes: Int = 255_000) -> String {
        String(repeating: text, count: bytes / text.utf8.count)
    }

    private static func head(_ fields: String) -> String {
        "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\(fields)\r\n"
    }

    private static func ask(
        _ attempt: Attempt, _ response: String, atOnce: Int = 64, isLogged: Bool = false
    ) async throws {
        let server = try ScriptedPeer.sending(response)
        defer { server.stop() }
        var options = TransportOptions()
        options.totalTimeout = .seconds(20)
        if isLogged { options.wireLog = WireLog(Logger(label: "heartbeat") { _ in QuietLog() }) }
        let request = TransportRequest(url: try RequestURL(server.url()), options: options)
        try await attempt.withNeighbour("a neighbor") { await attempt.askMany(atOnce, request) }
    }

    /// Two requests run and the others wait, so that the loop's thread builds them.
    private static func requests(_ attempt: Attempt) async throws {
        var fields = HTTPFields()
        let name = HTTPField.Name("a")!
        for _ in 0..<40_000 { fields.append(HTTPField(name: name, value: "b")) }
        let server = try ScriptedPeer.answering(.ok())
        defer { server.stop() }
        let request = TransportRequest(url: try RequestURL(server.url()), headerFields: fields)
        let code = await Task { [fields] in
            await attempt.ask(server.url(), headerFields: fields)
        }.value
        attempt.expect(code == nil, "a request of many fields failed: \(code?.rawValue ?? "")")
        try await attempt.withNeighbour("a neighbor") { await attempt.askMany(attempt.isShort ? 8 : 32, request) }
    }

    private static func targets(_ attempt: Attempt) async throws {
        let server = try ScriptedPeer.answering(.ok())
        defer { server.stop() }
        let request = TransportRequest(url: try RequestURL(server.url("/" + filled("a/b?", 60_000))))
        try await attempt.withNeighbour("a neighbor") { await attempt.askMany(32, request) }
    }
}
