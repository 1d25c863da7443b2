import Foundation
import JSONText
import NetworkLayer

/// One line of `run`'s input, with its types checked.
struct RequestLine: Sendable {
    var id: JSONValue
    /// The session of the request. Requests of one session share cookies. All requests share one transport and its
    /// connections.
    var session: JSONValue?
    var url: String
    var method: String
    var headers: [(name: String, value: String)]
    var body: Data?
    var options: RequestLineOptions

    /// Returns the id of a line, as far as it can be read; `null` otherwise.
    static func id(of value: JSONValue) -> JSONValue {
        guard case .object(let members) = value, let id = members.first(where: { $0.key == "id" })?.value else {
            return .null
        }
        switch id {
        case .string, .number, .null: return id
        case .bool, .array, .object: return .null
        }
    }

    /// Reads a line.
    /// - Throws: ``LineProblem`` that names the key.
    init(_ value: JSONValue) throws {
        guard case .object(let members) = value else {
            throw LineProblem("a request must be an object; this is \(value.kind)")
        }
        var reader = ObjectReader(members)
        id = try Self.label("id", reader.value("id")) ?? .null
        session = try Self.label("session", reader.value("session"))
        guard let url = try reader.string("url") else { throw LineProblem("'url' is missing") }
        self.url = url
        method = try reader.string("method") ?? "GET"
        headers = try reader.pairs("headers")
        body = try reader.string("bodyBase64").map { text in
            guard let data = Data(base64Encoded: text) else { throw LineProblem("'bodyBase64' is not base64") }
            return data
        }
        options = try reader.object("options").map { try RequestLineOptions($0) } ?? RequestLineOptions()
        try reader.finish()
    }

    private static func label(_ key: String, _ value: JSONValue?) throws -> JSONValue? {
        switch value {
        case nil, .string, .number: return value
        case .some(let other): throw LineProblem("'\(key)' is \(other.kind); a string or a number was expected")
        }
    }

    /// Returns the request to send.
    /// - Throws: ``NetworkError`` for a request that the library refuses.
    func transportRequest() throws -> TransportRequest {
        var request = try TransportRequest(method: try HTTPRequest.Method(checking: method), to: url)
        for (name, value) in headers { try request.headerFields.append(checking: name, value: value) }
        request.body = body.map { .bytes($0) }
        try options.apply(to: &request)
        return request
    }
}
