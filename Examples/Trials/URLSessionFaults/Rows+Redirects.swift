import Foundation
import NetworkTesting

/// Which redirects are followed, and how. The library's transports return a redirect unchanged.
extension URLSessionFaults {
    static let redirects: [FaultRow] = [
        redirect(
            "307",
            "307 on a POST with a body",
            307,
            "/next",
            Ask(method: "POST", body: Data("hello".utf8)),
            wanted: "POST /next with 5 bytes"
        ),
        redirect("303-head", "303 on HEAD", 303, "/next", Ask(method: "HEAD"), wanted: "HEAD /next with 0 bytes"),
        redirect("location-c", "Location: c", 302, "c", Ask(path: "/a/b"), wanted: "GET /a/c with 0 bytes"),
        redirect(
            "location-query", "Location: ?x=1", 302, "?x=1", Ask(path: "/a/b"), wanted: "GET /a/b?x=1 with 0 bytes"),
        redirect("location-up", "Location: ../up", 302, "../up", Ask(path: "/a/b/c"), wanted: "GET /a/up with 0 bytes"),
        redirect("location-escape", "Location: /a%2Fb", 302, "/a%2Fb", Ask(), wanted: "GET /a%2Fb with 0 bytes"),
        FaultRow(
            "cross-host",
            "a redirect to another host, with Authorization, Cookie and X-Api-Key",
            servers: {
                let other = try ScriptedServer(.ok("ok"))
                let moved =
                    "HTTP/1.1 302 Found\r\nLocation: http://localhost:\(other.port)/\r\nContent-Length: 0\r\n\r\n"
                return [try ScriptedServer(.raw(moved)), other]
            },
            serverSaw: { servers in
                let secrets = ["Authorization", "Cookie", "X-Api-Key"].filter { name in
                    servers[1].requests.contains { !$0.values(of: name).isEmpty }
                }
                return secrets.isEmpty ? "no secret" : "\(secrets.joined(separator: ", ")) at the other host"
            },
            isRight: { $0.server == "no secret" && ($0.said.hasPrefix("302 to") || $0.said.hasPrefix("200")) }
        ) { probe in
            let ask = Ask(fields: ["Authorization": "Bearer x", "Cookie": "a=1", "X-Api-Key": "y"])
            return try await probe.send(ask).text.replacing(":\(probe.ports[1])", with: "")
        },
        FaultRow(
            "no-location",
            "302 without a Location",
            .raw("HTTP/1.1 302 Found\r\nContent-Length: 5\r\n\r\nmoved"),
            excluded: [.urlsession],
            isRight: { $0.said == "302 'moved'" }
        ),
    ]

    private static func redirect(
        _ id: String, _ what: String, _ status: Int, _ location: String, _ ask: Ask, wanted: String
    ) -> FaultRow {
        FaultRow(
            id,
            what,
            .raw("HTTP/1.1 \(status) Moved\r\nLocation: \(location)\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"),
            .ok("ok"),
            serverSaw: { servers in
                let followed = servers[0].requests.dropFirst().map { request in
                    "\(request.method) \(request.target) with \(request.body.count) bytes"
                }
                return followed.isEmpty ? "nothing more" : followed.joined(separator: ", ")
            },
            isRight: { report in
                report.server == "nothing more" && report.said.hasPrefix("\(status) to \(location)")
                    || report.server == wanted
            },
            probe: { try await $0.send(ask).text }
        )
    }
}
