import Foundation
import FoundationNetworking
import NetworkTesting

/// What is sent, and what must not be sent.
extension URLSessionFaults {
    static let requests: [FaultRow] = [
        FaultRow(
            "ipv6",
            "a URL with an IPv6 address, where nothing listens",
            .ok("ok"),
            isRight: { ["error connectFailed", "error -1004"].contains($0.said) },
            probe: { try await $0.send(Ask(url: "http://[::1]:\($0.ports[0])/")).text }
        ),
        FaultRow(
            "upper-scheme",
            "HTTP:// in uppercase",
            .ok("ok"),
            isRight: { $0.said == "200 'ok'" },
            probe: { try await $0.send(Ask(url: "HTTP://127.0.0.1:\($0.ports[0])/")).text }
        ),
        FaultRow(
            "get-body",
            "GET with a body",
            .ok("ok"),
            serverSaw: bodySizes,
            isRight: { $0.said == "200 'ok'" && $0.server == "5 bytes" },
            probe: { try await $0.send(Ask(body: Data("hello".utf8))).text }
        ),
        FaultRow(
            "head-body",
            "HEAD with a body",
            .ok(),
            serverSaw: bodySizes,
            isRight: { $0.said.hasPrefix("error ") || $0.server == "5 bytes" },
            probe: { try await $0.send(Ask(method: "HEAD", body: Data("hello".utf8))).text }
        ),
        injection("value-crlf", "CR LF in a header value", Ask(fields: ["X-A": "1\r\nX-Injected: 1"])),
        injection("value-nul", "NUL in a header value", Ask(fields: ["X-A": "1\0"])),
        injection("name-crlf", "CR LF in a header name", Ask(fields: ["X-Injected: 1\r\nX-A": "1"])),
        injection("method-crlf", "CR LF in the method", Ask(method: "GET / HTTP/1.1\r\nX-Injected: 1\r\nX-B:")),
        FaultRow(
            "name-case",
            "the case of a header field's name, X-API-key",
            .ok("ok"),
            excluded: [.urlsession],
            serverSaw: { servers in
                let lines = servers[0].requests.flatMap(\.headerLines)
                return lines.first { $0.lowercased().hasPrefix("x-api-key") } ?? "no such field"
            },
            isRight: { $0.server == "X-API-key: 1" },
            probe: { try await $0.send(Ask(fields: ["X-API-key": "1"])).text }
        ),
        FaultRow(
            "cookie",
            "a custom Cookie field after a Set-Cookie",
            .ok("ok", fields: [("Set-Cookie", "jar=1")]),
            serverSaw: { $0[0].requests.last?.values(of: "Cookie").joined(separator: " | ") ?? "" },
            isRight: { $0.server == "own=2" }
        ) { probe in
            _ = try await probe.send(Ask())
            return try await probe.send(Ask(fields: ["Cookie": "own=2"])).text
        },
    ]

    @Sendable private static func bodySizes(_ servers: [ScriptedServer]) -> String {
        servers[0].requests.map { "\($0.body.count) bytes" }.joined(separator: ", ")
    }

    /// A request that can't be sent must fail. It must not be sent changed, nor without the invalid part.
    private static func injection(_ id: String, _ what: String, _ ask: Ask) -> FaultRow {
        FaultRow(
            id,
            what,
            .ok("ok"),
            serverSaw: { servers in
                guard let request = servers[0].requests.first else { return "nothing" }
                let isInjected = !request.values(of: "X-Injected").isEmpty
                let isThere = !request.values(of: "X-A").isEmpty
                return isInjected ? "an injected field" : isThere ? "the field" : "a request without the field"
            },
            isRight: { $0.said.hasPrefix("error invalid") && $0.server == "nothing" },
            probe: { try await $0.send(ask).text }
        )
    }
}
