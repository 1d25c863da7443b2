public import Foundation
public import NetworkCore

/// A request as ``StubTransport`` received it, with its body read.
public struct SentRequest: Sendable, SafelyPrinted {
    /// The HTTP method.
    public let method: HTTPRequest.Method
    /// The URL of the request.
    public let url: RequestURL
    /// The header fields as they would go out on the wire.
    public let headerFields: HTTPFields
    /// The whole body as it would be sent, compressed if ``NetworkCore/TransportOptions/requestCompression`` says so;
    /// empty if there is none.
    public let body: Data
    /// The trailer fields after the body, as they would go out; empty if there are none.
    public let trailers: HTTPFields
    /// The request's options: timeouts, limits, protocol versions and others.
    public let options: TransportOptions

    init(_ request: TransportRequest, body: Data, trailers: HTTPFields = [:]) {
        self.trailers = trailers
        method = request.method
        url = request.url
        headerFields = request.wireFields
        self.body = body
        options = request.options
    }

    /// The query, percent-encoded; empty if there is none.
    public var query: String { url.query ?? "" }
    /// The path and query, as in the request line.
    public var target: String { url.path + (url.query.map { "?\($0)" } ?? "") }
    /// The body as UTF-8 text. Invalid bytes become U+FFFD.
    public var text: String { String(decoding: body, as: UTF8.self) }

    /// Returns a value decoded from the body as JSON.
    /// - Throws: The decoder's error.
    public func json<Value: Decodable>(
        _ type: Value.Type = Value.self, decoder: JSONDecoder = JSONDecoder()
    ) throws -> Value {
        try decoder.decode(type, from: body)
    }

    /// The method and URL, without users, passwords and queries.
    public var description: String { "\(method.rawValue) \(url)" }
}
