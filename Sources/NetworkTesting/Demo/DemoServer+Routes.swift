import Foundation

extension DemoServer {
    /// Every route, in the order in which the server tries them. `netlayer serve` prints this list.
    public static let routes: [DemoRoute] = [
        DemoRoute([], "/test", "three rows of JSON, as in the tutorials") { _ in
            try .json((1...3).map { SampleRow(dataField1: "\($0)", dataField2: "\($0)") })
        },
        DemoRoute(["POST"], "/users", "201 and the JSON object of the body, with an id", body: .whole) { request in
            let sent = try request.body()
            guard var user = try? JSONSerialization.jsonObject(with: sent) as? [String: Any] else {
                throw DemoRefusal(status: 400, message: "the body is not a JSON object")
            }
            user["id"] = 4
            let body = try JSONSerialization.data(withJSONObject: user, options: .sortedKeys)
            return DemoResponse(status: 201, fields: [("Content-Type", "application/json")], body: .data(body))
        },
        DemoRoute([], "/users", "three users as JSON: id and name") { _ in
            try .json(["Ada", "Brendan", "Chris"].enumerated().map { User(id: $0.offset + 1, name: $0.element) })
        },
        DemoRoute([], "/3/movie/:feed", "three movies as JSON, as in the tutorials") { request in
            let movies = ["One", "Two", "Three"].enumerated().map { number, title in
                Movie(title: title, overview: request.value, poster_path: "/\(number).jpg")
            }
            return try .json(MovieFeed(results: movies))
        },
        DemoRoute([], "/bins/:id", "a note as JSON, as in the tutorials") { request in
            try .json(["id": request.value, "text": "a note"])
        },
        DemoRoute([], "/echo", "method, path, query, header fields and body of the request, as JSON", body: .whole) {
            request in
            try .json(Echo(request, body: request.body()))
        },
        DemoRoute([], "/headers", "the request's header fields as JSON, sorted by name") { request in
            try .json(request.headers)
        },
        DemoRoute([], "/status/:code", "that status, 200 to 599, with a small JSON body (204 and 304 without)") {
            request in
            let code = try request.number(in: 200...599)
            guard code != 204, code != 304 else { return DemoResponse(status: code) }
            return try .json(["status": code], status: code)
        },
        DemoRoute([], "/delay/:milliseconds", "a response after that time in milliseconds, at most 60000") { request in
            let milliseconds = try request.number(in: 0...60_000)
            var response = try DemoResponse.json(["milliseconds": milliseconds])
            response.delay = milliseconds
            return response
        },
        DemoRoute([], "/bytes/:count", "that many bytes of a fixed pattern, at most 67108864") { request in
            let count = try request.number(in: 0...67_108_864)
            return DemoResponse(fields: [("Content-Type", "application/octet-stream")], body: .pattern(count: count))
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
                fields: [("Content-Type", "text/event-stream")],
                body: .data(Data("retry: 10\n\n\(events)".utf8))
            )
        },
        DemoRoute([], "/gzip", "JSON with Content-Encoding: gzip") { _ in
            let rows = (1...100).map { SampleRow(dataField1: "\($0)", dataField2: "compressed") }
            var response = try DemoResponse.json(rows)
            if case .data(let plain) = response.body { response.body = .data(Gzip.stored(plain)) }
            response.fields.append(("Content-Encoding", "gzip"))
            return response
        },
        DemoRoute([], "/redirect/:count", "that many redirects (302), at most 100, the last to /test") { request in
            let count = try request.number(in: 1...100)
            let next = count == 1 ? "/test" : "/redirect/\(count - 1)"
            return DemoResponse(status: 302, fields: [("Location", next)])
        },
        DemoRoute([], "/bearer/:token", "200 with that bearer token, 401 with another or none") { request in
            let isIn = request.value(of: "authorization") == "Bearer \(request.value)"
            var response = try DemoResponse.json(["authorized": isIn], status: isIn ? 200 : 401)
            if !isIn { response.fields.append(("WWW-Authenticate", "Bearer")) }
            return response
        },
        DemoRoute([], "/cookies", "two Set-Cookie header fields") { _ in
            var response = try DemoResponse.json(["cookies": 2])
            response.fields.append(("Set-Cookie", "first=1; Path=/"))
            response.fields.append(("Set-Cookie", "second=2; Path=/; HttpOnly"))
            return response
        },
        DemoRoute(
            ["POST", "PUT", "PATCH"],
            "/upload",
            "length and CRC-32 of the request's body, as JSON",
            body: .checksum
        ) { request in
            try .json(Upload(bytes: request.bodyBytes, crc32: request.checksum.text))
        },
    ]
}

/// A row of the tutorials' response.
private struct SampleRow: Codable {
    let dataField1: String
    let dataField2: String
}

private struct User: Codable {
    let id: Int
    let name: String
}

private struct Movie: Codable {
    let title: String
    let overview: String
    let poster_path: String
}

private struct MovieFeed: Codable {
    let results: [Movie]
}

private struct Upload: Codable {
    let bytes: Int
    let crc32: String
}

private struct Echo: Codable {
    let method: String
    let path: String
    let query: String
    let headers: [[String]]
    let bodyBase64: String
    let bodyBytes: Int

    init(_ request: DemoRequest, body: Data) {
        method = request.method
        path = request.path
        query = request.query
        headers = request.headers
        bodyBase64 = body.base64EncodedString()
        bodyBytes = body.count
    }
}
