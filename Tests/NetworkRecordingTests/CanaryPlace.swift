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

    private init(_ name: String, request: @escaping @Sendable (CanarySecret) throws -> TransportRequest) {
        (testDescription, self.request, response) = (name, request, { _ in .text("fine") })
    }

    private init(_ name: String, response: @escaping @Sendable (CanarySecret) -> StubResponse) {
        (testDescription, self.response, request) = (name, response, { _ in try TransportRequest(to: "http://h/a") })
    }

    private typealias Text = @Sendable (CanarySecret) -> String

    private static func sentField(_ name: String, _ value: @escaping Text) -> CanaryPlace {
        CanaryPlace(name, request: { try TransportRequest(to: "http://h/", headerFields: fields(name, value($0))) })
    }

    private static func sent(_ name: String, _ url: @escaping Text) -> CanaryPlace {
        CanaryPlace(name, request: { try TransportRequest(to: url($0)) })
    }

    private static func posted(_ name: String, _ type: String, _ body: @escaping Text) -> CanaryPlace {
        CanaryPlace(name, request: { try post(type, Data(body($0).utf8)) })
    }

    private static func receivedField(_ name: String, _ value: @escaping Text) -> CanaryPlace {
        CanaryPlace("\(name) of a response", response: { .text("", headerFields: fields(name, value($0))) })
    }

    private static func received(_ name: String, _ type: String, _ body: @escaping Text) -> CanaryPlace {
        CanaryPlace(name, response: { .text(body($0), headerFields: [.contentType: type]) })
    }

    private static func fields(_ name: String, _ value: String) -> HTTPFields {
        HTTPField.Name(name).map { [$0: value] } ?? [:]
    }

    private static func post(_ type: String, _ body: Data, _ fields: HTTPFields = [:]) throws -> TransportRequest {
        var fields = fields
        fields[.contentType] = type
        return try TransportRequest(method: .post, to: "http://h/a", headerFields: fields, body: .bytes(body))
    }

    private static func quoted(_ text: String) -> String {
        (try? JSONEncoder().encode(text)).map { String(decoding: $0, as: UTF8.self) } ?? ""
    }

    @Sendable private static func json(_ secret: CanarySecret) -> String {
        let text = quoted(secret.value)
        return "{\"user\":\"me\",\"password\":\(text),\"list\":[{\"api_key\":\(text)}]}"
    }

    /// A secret as a header field can carry it.
    @Sendable private static func field(_ secret: CanarySecret) -> String {
        let text = secret.value.filter { $0.isASCII && !$0.isNewline && $0 >= " " && $0 != "\u{7F}" }
        return text.hasPrefix(" ") ? "x" + text : text
    }

    /// A JSON Web Token with a secret in it.
    @Sendable private static func token(_ secret: CanarySecret) -> String {
        let text = secret.value.filter { $0.isASCII && ($0.isLetter || $0.isNumber) }
        return "eyJhbGciOiJIUzI1NiJ9.\(text).abc_-"
    }

    /// A JSON text with URLs, as three writers escape it, and with JSON in a string.
    @Sendable private static func nestedJSON(_ secret: CanarySecret) -> String {
        let url = "https://me:x\(secret.percentEncoded)@h/a?b=1&token=\(secret.percentEncoded)"
        let slashes = url.split(separator: "/", omittingEmptySubsequences: false).joined(separator: #"\/"#)
        let unicode = url.split(separator: "&").joined(separator: #"\u0026"#)
        let inner = quoted(json(secret))
        return "{\"next\":\"\(url)\",\"last\":\"\(slashes)\",\"first\":\"\(unicode)\",\"text\":\(inner)}"
    }

    static let all: [CanaryPlace] = [
        sentField("Idempotency-Key", field), sentField("Last-Event-ID", field), sentField("Authorization", field),
        sentField("Cookie") { "a=" + field($0) }, sentField("X-Api-Key", field),
        sentField("X-A") { "Bearer x" + field($0) }, sentField("Referer") { "http://h/?sid=\($0.percentEncoded)" },
        CanaryPlace(
            "a field of secretFields",
            request: {
                let name = HTTPField.Name("X-Mine")!
                var request = try TransportRequest(to: "http://h/", headerFields: [name: field($0)])
                request.options.secretFields = [name]
                return request
            }),
        CanaryPlace(
            "the option authentication",
            request: {
                var request = try TransportRequest(to: "http://h/")
                request.options.authentication = .bearer(token: .init(field($0).filter { $0 != " " }))
                return request
            }),
        sent("the user of the URL") { "http://me:x\($0.percentEncoded)@h/" },
        sent("a parameter") { "http://h/?a=1&token=\($0.percentEncoded)&b=2" },
        sent("a URL in a parameter") {
            let inner = "https://i/cb?access_token=\($0.percentEncoded)"
            return "http://h/?next=\(inner.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? "")"
        },
        posted("a page", "text/html") { "<p>\($0.value)</p>" },
        posted("a file", "application/octet-stream") { $0.value },
        posted("a token as a body", "application/jwt", token),
        posted("a token in a text", "text/plain") { "here: <\(token($0))>" },
        posted("a token in a multipart body", "multipart/form-data; boundary=x") {
            "--x\r\n\r\n\(token($0))\r\n--x--\r\n"
        },
        posted("a JSON body", "application/json", json),
        posted("a form", "application/x-www-form-urlencoded") { "a=1&client_secret=\($0.percentEncoded)&b=2" },
        posted("a multipart body", "multipart/form-data; boundary=x") {
            "--x\r\nContent-Disposition: form-data; name=\"password\"\r\n\r\n\($0.value)\r\n--x--\r\n"
        },
        CanaryPlace(
            "JSON without a type",
            request: { try TransportRequest(method: .post, to: "http://h/", body: .bytes(Data(json($0).utf8))) }),
        CanaryPlace(
            "a streamed JSON body in small chunks",
            request: { secret in
                let bytes = Array(json(secret).utf8)
                let pieces = stride(from: 0, to: bytes.count, by: 3).map { Data(bytes[$0..<min($0 + 3, bytes.count)]) }
                let stream = AsyncStream { continuation in
                    for piece in pieces { continuation.yield(piece) }
                    continuation.finish()
                }
                let fields: HTTPFields = [.contentType: "application/json"]
                return try TransportRequest(method: .post, to: "http://h/", headerFields: fields, body: .stream(stream))
            }),
        CanaryPlace(
            "a compressed JSON body",
            request: {
                try post("application/json", Gzip.stored(Data(json($0).utf8)), [.contentEncoding: "gzip"])
            }),
        receivedField("Set-Cookie") { "a=" + field($0) },
        receivedField("Location") { "http://me:x\($0.percentEncoded)@i/?sig=\($0.percentEncoded)" },
        receivedField("Location") { "http://i/#access_token=\($0.percentEncoded)" },
        receivedField("Content-Location") { "/a?token=\($0.percentEncoded)" },
        receivedField("Link") { "<http://h/?token=\($0.percentEncoded)>; rel=next" },
        CanaryPlace("a text without a type", response: { .text("secret: \($0.value)") }),
        received("a token under any name", "application/json") { "{\"a\":\"\(token($0))\"}" },
        received("URLs and JSON in strings of JSON", "application/json", nestedJSON),
        received("URLs in an event stream", "text/event-stream") { "data: \(nestedJSON($0))\n\n" },
        received("a JSON response", "application/json", json),
        received("lines of JSON", "application/x-ndjson") { json($0) + "\n" + json($0) + "\n" },
        received("an event stream", "text/event-stream") { "event: a\ndata: \(json($0))\n\n" },
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
