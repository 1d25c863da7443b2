import Foundation
import NetworkCore
import NetworkTesting
import TestSupport
import Testing

/// A place of a request or a response in which a secret may be.
struct CanaryPlace: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let request: @Sendable (CanarySecret) throws -> TransportRequest
    let response: @Sendable (CanarySecret) -> StubResponse

    private static func sent(
        _ name: String, _ request: @escaping @Sendable (CanarySecret) throws -> TransportRequest
    ) -> CanaryPlace {
        CanaryPlace(name, request: request)
    }

    private init(_ name: String, request: @escaping @Sendable (CanarySecret) throws -> TransportRequest) {
        (testDescription, self.request, response) = (name, request, { _ in .text("fine") })
    }

    private init(_ name: String, response: @escaping @Sendable (CanarySecret) -> StubResponse) {
        (testDescription, self.response, request) = (name, response, { _ in try TransportRequest(to: "http://h/a") })
    }

    private static func post(_ type: String, _ body: Data, _ fields: HTTPFields = [:]) throws -> TransportRequest {
        var fields = fields
        fields[.contentType] = type
        return try TransportRequest(method: .post, to: "http://h/a", headerFields: fields, body: .bytes(body))
    }

    private static func quoted(_ text: String) -> String {
        (try? JSONEncoder().encode(text)).map { String(decoding: $0, as: UTF8.self) } ?? ""
    }

    private static func json(_ secret: CanarySecret) -> String {
        let text = quoted(secret.value)
        return "{\"user\":\"me\",\"password\":\(text),\"list\":[{\"api_key\":\(text)}]}"
    }

    /// A secret as a header field can carry it.
    private static func field(_ secret: CanarySecret) -> String {
        let text = secret.value.filter { $0.isASCII && !$0.isNewline && $0 >= " " && $0 != "\u{7F}" }
        return text.hasPrefix(" ") ? "x" + text : text
    }

    /// A JSON Web Token with a secret in it.
    private static func token(_ secret: CanarySecret) -> String {
        let text = secret.value.filter { $0.isASCII && ($0.isLetter || $0.isNumber) }
        return "eyJhbGciOiJIUzI1NiJ9.\(text).abc_-"
    }

    /// A JSON text with URLs, as three writers escape it, and with JSON in a string.
    private static func nestedJSON(_ secret: CanarySecret) -> String {
        let url = "https://me:x\(secret.percentEncoded)@h/a?b=1&token=\(secret.percentEncoded)"
        let slashes = url.split(separator: "/", omittingEmptySubsequences: false).joined(separator: #"\/"#)
        let unicode = url.split(separator: "&").joined(separator: #"\u0026"#)
        let inner = quoted(json(secret))
        return "{\"next\":\"\(url)\",\"last\":\"\(slashes)\",\"first\":\"\(unicode)\",\"text\":\(inner)}"
    }

    static let all: [CanaryPlace] = [
        CanaryPlace.sent("Idempotency-Key") {
            try TransportRequest(to: "http://h/", headerFields: [HTTPField.Name("Idempotency-Key")!: field($0)])
        },
        CanaryPlace.sent("Last-Event-ID") {
            try TransportRequest(to: "http://h/", headerFields: [HTTPField.Name("Last-Event-ID")!: field($0)])
        },
        CanaryPlace.sent("a page") { try post("text/html", Data("<p>\($0.value)</p>".utf8)) },
        CanaryPlace.sent("a file") { try post("application/octet-stream", Data($0.value.utf8)) },
        CanaryPlace("a text without a type", response: { .text("secret: \($0.value)") }),
        CanaryPlace.sent("a token as a body") { try post("application/jwt", Data(token($0).utf8)) },
        CanaryPlace.sent("a token in a text") { try post("text/plain", Data("here: <\(token($0))>".utf8)) },
        CanaryPlace.sent("a token in a multipart body") {
            try post("multipart/form-data; boundary=x", Data("--x\r\n\r\n\(token($0))\r\n--x--\r\n".utf8))
        },
        CanaryPlace(
            "a token under any name",
            response: { .text("{\"a\":\"\(token($0))\"}", headerFields: [.contentType: "application/json"]) }),
        CanaryPlace(
            "URLs and JSON in strings of JSON",
            response: { .text(nestedJSON($0), headerFields: [.contentType: "application/json"]) }),
        CanaryPlace(
            "URLs in an event stream",
            response: { .text("data: \(nestedJSON($0))\n\n", headerFields: [.contentType: "text/event-stream"]) }),
        CanaryPlace.sent("Authorization") {
            try TransportRequest(to: "http://h/", headerFields: [.authorization: field($0)])
        },
        CanaryPlace.sent("Cookie") { try TransportRequest(to: "http://h/", headerFields: [.cookie: "a=" + field($0)]) },
        CanaryPlace.sent("X-Api-Key") {
            try TransportRequest(to: "http://h/", headerFields: [HTTPField.Name("X-Api-Key")!: field($0)])
        },
        CanaryPlace.sent("a field of secretFields") {
            let name = HTTPField.Name("X-Mine")!
            var request = try TransportRequest(to: "http://h/", headerFields: [name: field($0)])
            request.options.secretFields = [name]
            return request
        },
        CanaryPlace.sent("a bearer in any field") {
            try TransportRequest(to: "http://h/", headerFields: [HTTPField.Name("X-A")!: "Bearer x" + field($0)])
        },
        CanaryPlace.sent("the option authentication") {
            var request = try TransportRequest(to: "http://h/")
            request.options.authentication = .bearer(token: .init(field($0).filter { $0 != " " }))
            return request
        },
        CanaryPlace.sent("the user of the URL") { try TransportRequest(to: "http://me:x\($0.percentEncoded)@h/") },
        CanaryPlace.sent("a parameter") { try TransportRequest(to: "http://h/?a=1&token=\($0.percentEncoded)&b=2") },
        CanaryPlace.sent("a URL in a parameter") {
            let inner = "https://i/cb?access_token=\($0.percentEncoded)"
            let outer = inner.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
            return try TransportRequest(to: "http://h/?next=\(outer)")
        },
        CanaryPlace.sent("Referer") {
            let name = HTTPField.Name("Referer")!
            return try TransportRequest(to: "http://h/", headerFields: [name: "http://h/?sid=\($0.percentEncoded)"])
        },
        CanaryPlace.sent("a JSON body") { try post("application/json", Data(json($0).utf8)) },
        CanaryPlace.sent("JSON without a type") {
            try TransportRequest(method: .post, to: "http://h/", body: .bytes(Data(json($0).utf8)))
        },
        CanaryPlace.sent("a streamed JSON body in small chunks") { secret in
            let bytes = Array(json(secret).utf8)
            let pieces = stride(from: 0, to: bytes.count, by: 3).map { Data(bytes[$0..<min($0 + 3, bytes.count)]) }
            let stream = AsyncStream { continuation in
                for piece in pieces { continuation.yield(piece) }
                continuation.finish()
            }
            return try TransportRequest(
                method: .post, to: "http://h/", headerFields: [.contentType: "application/json"], body: .stream(stream))
        },
        CanaryPlace.sent("a compressed JSON body") {
            try post("application/json", Gzip.stored(Data(json($0).utf8)), [.contentEncoding: "gzip"])
        },
        CanaryPlace.sent("a form") {
            try post("application/x-www-form-urlencoded", Data("a=1&client_secret=\($0.percentEncoded)&b=2".utf8))
        },
        CanaryPlace.sent("a multipart body") {
            let part = "Content-Disposition: form-data; name=\"password\""
            return try post(
                "multipart/form-data; boundary=x", Data("--x\r\n\(part)\r\n\r\n\($0.value)\r\n--x--\r\n".utf8))
        },
        CanaryPlace("Set-Cookie", response: { .text("", headerFields: [.setCookie: "a=" + field($0)]) }),
        CanaryPlace(
            "Location",
            response: {
                .text(
                    "", status: 302,
                    headerFields: [.location: "http://me:x\($0.percentEncoded)@i/?sig=\($0.percentEncoded)"])
            }),
        CanaryPlace(
            "the fragment of Location",
            response: {
                .text("", status: 302, headerFields: [.location: "http://i/#access_token=\($0.percentEncoded)"])
            }),
        CanaryPlace(
            "Content-Location",
            response: {
                .text("", headerFields: [HTTPField.Name("Content-Location")!: "/a?token=\($0.percentEncoded)"])
            }),
        CanaryPlace(
            "Link",
            response: {
                .text("", headerFields: [HTTPField.Name("Link")!: "<http://h/?token=\($0.percentEncoded)>; rel=next"])
            }),
        CanaryPlace(
            "a JSON response", response: { .text(json($0), headerFields: [.contentType: "application/json"]) }),
        CanaryPlace(
            "lines of JSON",
            response: { .text(json($0) + "\n" + json($0) + "\n", headerFields: [.contentType: "application/x-ndjson"]) }
        ),
        CanaryPlace(
            "an event stream",
            response: { .text("event: a\ndata: \(json($0))\n\n", headerFields: [.contentType: "text/event-stream"]) }),
        CanaryPlace(
            "truncated JSON",
            response: {
                let text = json($0)
                let cut = Data(text.utf8.prefix(text.utf8.count - 8))
                return .chunks([cut], thenFailing: NetworkError(.truncatedBody, "cut"))
            }),
        CanaryPlace(
            "JSON that is split across chunks",
            response: { secret in
                .chunks(json(secret).utf8.map { Data([$0]) }, headerFields: [.contentType: "application/json"])
            }),
        CanaryPlace(
            "an error",
            response: { .failure(NetworkError(.connectFailed, "can't reach http://me:x\($0.percentEncoded)@h/")) }),
    ]
}
