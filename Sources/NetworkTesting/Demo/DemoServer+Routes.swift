import Foundation
import NetworkCore

extension DemoServer {
    /// Every route, in the order in which the server tries them. `netlayer serve` prints this list.
    public static let routes: [DemoRoute] = [
        DemoRoute([], "/test", "three rows of JSON, as in the tutorials") { _ in
            .json(.array((1...3).map { ["dataField1": .string("\($0)"), "dataField2": .string("\($0)")] }))
        },
        DemoRoute(["POST"], "/users", "201 and the JSON object of the body, with an id") { request in
            let sent = try request.body()
            guard var user = try? JSONSerialization.jsonObject(with: sent) as? [String: Any] else {
                throw DemoRefusal(status: 400, message: "the body is not a JSON object")
            }
            user["id"] = 4
            return .json(ParameterValue(user), status: 201)
        },
        DemoRoute([], "/users", "three users as JSON: id and name") { _ in
            .json([["id": 1, "name": "Ada"], ["id": 2, "name": "Brendan"], ["id": 3, "name": "Chris"]])
        },
        DemoRoute([], "/3/movie/:feed", "three movies as JSON, as in the tutorials") { request in
            let movies = ["One", "Two", "Three"].enumerated().map { number, title -> ParameterValue in
                [
                    "title": .string(title), "overview": .string(request.value),
                    "poster_path": .string("/\(number).jpg"),
                ]
            }
            return .json(["results": .array(movies)])
        },
        DemoRoute([], "/bins/:id", "a note as JSON, as in the tutorials") { request in
            .json(["id": .string(request.value), "text": "a note"])
        },
        DemoRoute([], "/echo", "method, path, query, header fields and body of the request, as JSON") { request in
            .json([
                "method": .string(request.method), "path": .string(request.path), "query": .string(request.query),
                "headers": headers(of: request), "bodyBytes": .int(request.bodyBytes),
                "bodyBase64": .string(try request.body().base64EncodedString()),
            ])
        },
        DemoRoute([], "/headers", "the request's header fields as JSON, sorted by name") { .json(headers(of: $0)) },
        DemoRoute([], "/status/:code", "that status, 200 to 599, with a small JSON body (204 and 304 without)") {
            let code = try $0.number(in: 200...599)
            return code == 204 || code == 304
                ? DemoResponse(status: code) : .json(["status": .int(code)], status: code)
        },
        DemoRoute([], "/delay/:milliseconds", "a response after that time in milliseconds, at most 60000") {
            let milliseconds = try $0.number(in: 0...60_000)
            var response = DemoResponse.json(["milliseconds": .int(milliseconds)])
            response.delay = milliseconds
            return response
        },
        DemoRoute([], "/bytes/:count", "that many bytes of a fixed pattern, at most 67108864") {
            let body = PatternBytes.make(count: try $0.number(in: 0...67_108_864))
            return DemoResponse(fields: [("Content-Type", "application/octet-stream")], body: body)
        },
        DemoRoute(
            [], "/events/:count", "server-sent events up to that number, at most 1000, three a connection; then 204"
        ) {
            request in
            let last = try request.number(in: 1...1000)
            let id = request.value(of: "last-event-id")
            // The client may send any number. One past the last is clamped against overflow; one below 0 starts over.
            let read = min(max(0, id.flatMap { Int($0) } ?? 0), last)
            guard read < last else { return DemoResponse(status: 204) }
            let events = (read + 1...min(read + 3, last)).map { "id: \($0)\ndata: event \($0)\n\n" }.joined()
            return DemoResponse(
                fields: [("Content-Type", "text/event-stream")], body: Data("retry: 10\n\n\(events)".utf8))
        },
        DemoRoute([], "/gzip", "JSON with Content-Encoding: gzip") { _ in
            let rows = (1...100).map { ["dataField1": .string("\($0)"), "dataField2": "compressed"] as ParameterValue }
            var response = DemoResponse.json(.array(rows), fields: [("Content-Encoding", "gzip")])
            response.body = Gzip.stored(response.body)
            return response
        },
        DemoRoute([], "/redirect/:count", "that many redirects (302), at most 100, the last to /test") {
            let count = try $0.number(in: 1...100)
            return DemoResponse(
                status: 302, fields: [("Location", count == 1 ? "/test" : "/redirect/\(count - 1)")])
        },
        DemoRoute([], "/bearer/:token", "200 with that bearer token, 401 with another or none") { request in
            let isIn = request.value(of: "authorization") == "Bearer \(request.value)"
            return .json(
                ["authorized": .bool(isIn)], status: isIn ? 200 : 401,
                fields: isIn ? [] : [("WWW-Authenticate", "Bearer")])
        },
        DemoRoute([], "/cookies", "two Set-Cookie header fields") { _ in
            .json(
                ["cookies": 2],
                fields: [("Set-Cookie", "first=1; Path=/"), ("Set-Cookie", "second=2; Path=/; HttpOnly")])
        },
        DemoRoute(
            ["POST", "PUT", "PATCH"], "/upload", "length and SHA-256 of the request's body, as JSON"
        ) {
            let body = try $0.body()
            return .json(["bytes": .int(body.count), "sha256": .string(SHA256Checksum.digest(body).hexadecimal)])
        },
    ]

    private static func headers(of request: DemoRequest) -> ParameterValue {
        .array(request.headers.map { [.string($0.name), .string($0.value)] })
    }
}
