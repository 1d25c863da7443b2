import Foundation
import NetworkCore

/// A request as a route receives it.
struct DemoRequest {
    let method: String
    /// The path, percent-encoded as received.
    let path: String
    /// The query, percent-encoded as received; empty if there is none.
    let query: String
    /// Names and values, sorted by name.
    let headers: [(name: String, value: String)]
    let isHTTP10: Bool
    /// The value in place of `:name` in the route's path.
    var value = ""

    private(set) var bodyBytes = 0
    private var keptBody = Data()

    /// Creates a request from its head; `nil` if the first line is not a request's.
    init?(head: String) {
        // What is not ASCII is UTF-8 here, as in the responses.
        let bytes = head.unicodeScalars.map { UInt8(truncatingIfNeeded: $0.value) }
        let received = ReceivedRequest(head: String(decoding: bytes, as: UTF8.self), body: Data(), connection: 0)
        guard received.requestLine.count == 3 else { return nil }
        let target = received.target.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        method = received.method
        path = String(target[0])
        query = target.count > 1 ? String(target[1]) : ""
        headers = received.fields.sorted { $0.name.lowercased() < $1.name.lowercased() }
        isHTTP10 = received.requestLine[2] == "HTTP/1.0"
    }

    /// Returns the last value of a field.
    func value(of name: String) -> String? { headers.last { $0.name.lowercased() == name }?.value }

    /// Whether the connection goes on after the response ([RFC 9112 §9.3](https://www.rfc-editor.org/rfc/rfc9112)).
    var keepsConnection: Bool {
        let tokens = (value(of: "connection") ?? "").lowercased().split(separator: ",")
            .map { $0.trimmingCharacters(in: .whitespaces) }
        return isHTTP10 ? tokens.contains("keep-alive") : !tokens.contains("close")
    }

    /// Whether the client waits for status 100 before it sends the body.
    var expectsContinue: Bool { !isHTTP10 && value(of: "expect")?.lowercased() == "100-continue" }

    /// The largest body, in bytes, that is held in memory; a larger one gets status 413.
    static let maximumBodyBytes = 67_108_864

    /// Adds the next piece of the body.
    mutating func add(_ piece: Data) {
        bodyBytes += piece.count
        if bodyBytes <= Self.maximumBodyBytes { keptBody.append(piece) } else { keptBody = Data() }
    }

    /// Returns the whole body. Throws ``DemoRefusal`` (413) above ``maximumBodyBytes``.
    func body() throws -> Data {
        guard bodyBytes <= Self.maximumBodyBytes else {
            throw DemoRefusal(status: 413, message: "the body is larger than \(Self.maximumBodyBytes) bytes")
        }
        return keptBody
    }

    /// Returns the path's value as a number. Throws ``DemoRefusal`` (400) for anything else.
    func number(in range: ClosedRange<Int>) throws -> Int {
        guard let number = Int(value), range.contains(number) else {
            let limits = "\(range.lowerBound) to \(range.upperBound)"
            throw DemoRefusal(status: 400, message: "'\(value)' is not a number from \(limits)")
        }
        return number
    }
}

/// A request that a route refuses.
struct DemoRefusal: Error {
    let status: Int
    let message: String
}

/// The response of a route.
struct DemoResponse {
    var status = 200
    var fields: [(String, String)] = []
    var body = Data()
    /// The time before the response, in milliseconds.
    var delay = 0

    static func json(_ value: ParameterValue, status: Int = 200, fields: [(String, String)] = []) -> DemoResponse {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return DemoResponse(
            status: status, fields: [("Content-Type", "application/json")] + fields,
            body: (try? encoder.encode(value)) ?? Data())
    }

    /// Returns the bytes on the wire; of the response to `HEAD` only the head.
    func bytes(for request: DemoRequest) -> Data {
        var fields = fields
        // Neither has a body, nor the length of one.
        if status != 204, status != 304 { fields.append(("Content-Length", "\(body.count)")) }
        // The status line has HTTP/1.1, whose connections go on unless they say otherwise.
        if !request.keepsConnection { fields.append(("Connection", "close")) }
        if request.keepsConnection, request.isHTTP10 { fields.append(("Connection", "keep-alive")) }
        return Script.head(status, Self.phrases[status] ?? "Status", fields: fields)
            + (request.method == "HEAD" ? Data() : body)
    }

    private static let phrases = [
        200: "OK", 201: "Created", 202: "Accepted", 204: "No Content", 206: "Partial Content",
        301: "Moved Permanently", 302: "Found", 303: "See Other", 304: "Not Modified", 307: "Temporary Redirect",
        308: "Permanent Redirect", 400: "Bad Request", 401: "Unauthorized", 403: "Forbidden", 404: "Not Found",
        405: "Method Not Allowed", 408: "Request Timeout", 409: "Conflict", 413: "Content Too Large",
        429: "Too Many Requests", 500: "Internal Server Error", 502: "Bad Gateway", 503: "Service Unavailable",
        504: "Gateway Timeout",
    ]
}
