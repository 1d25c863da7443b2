import Foundation
import HTTPTypes
import NetworkLayer

// To use it with swift-openapi-runtime, copy this file and add `import OpenAPIRuntime`.

/// Sends a generated client's operations through the pipeline of a `NetworkClient`: its interceptors, retries and
/// options apply. Bodies stream in both directions, each chunk when the other side is ready for it.
///
///     let client = Client(serverURL: try Servers.server1(), transport: OpenAPITransport(client: networkClient))
///
/// The path of an operation is appended to that of the server's URL, and its query to that of the server's URL; the
/// base URL of the `NetworkClient` is not used. Any status is a response, since the generated client reads it.
struct OpenAPITransport: ClientTransport {
    let client: NetworkClient

    init(client: NetworkClient) { self.client = client.with { $0.validation = .any } }

    func send(
        _ request: HTTPRequest, body: HTTPBody?, baseURL: URL, operationID: String
    ) async throws -> (HTTPResponse, HTTPBody?) {
        let url = try RequestURL(base: baseURL.absoluteString, path: request.path ?? "")
        var prepared = TransportRequest(method: request.method, url: url, options: client.options)
        prepared.headerFields = request.headerFields
        // The path has the operation's values in it. The name that metrics and spans need is the operation's.
        prepared.template = operationID
        prepared.body = body.map(Self.outgoing)

        let response = try await client.send(prepared, as: .stream)
        // A generated client tells by `nil` that there can be no content.
        if [.head, .connect, .trace].contains(request.method) { return (response.head, nil) }
        let received = HTTPBody(response.body, length: Self.length(of: response.head), iterationBehavior: .single)
        return (response.head, received)
    }

    /// A body that may be iterated again is sent again by a retry or a redirect.
    private static func outgoing(_ body: HTTPBody) -> TransportRequest.Body {
        let length: Int? = if case .known(let bytes) = body.length { Int(exactly: bytes) } else { nil }
        return switch body.iterationBehavior {
        case .single: .stream(body.map { Data($0) }, length: length)
        case .multiple: .replayableStream(length: length) { body.map { Data($0) } }
        }
    }

    /// Content-Length counts encoded bytes, and the body's are decoded.
    private static func length(of head: HTTPResponse) -> HTTPBody.Length {
        guard !head.headerFields.contains(.contentEncoding),
            let length = head.headerFields[.contentLength].flatMap({ Int64($0) })
        else { return .unknown }
        return .known(length)
    }
}
