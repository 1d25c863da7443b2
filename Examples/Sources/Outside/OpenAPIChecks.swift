import Foundation
import HTTPTypes
import NetworkLayer
import Synchronization

/// A generated client's operations through ``OpenAPITransport``.
struct OpenAPIChecks {
    let check: (_ what: String, _ holds: Bool) throws -> Void

    /// Over a transport of the network.
    func overNetwork(_ client: NetworkClient, base: String) async throws {
        let names = Mutex<[String?]>([])
        let named = client.with {
            $0.interceptors.append(
                TemplateSpy { name in names.withLock { $0.append(name) } })
        }
        let (head, body) = try await operation("echo", .post, "/echo?a=1", HTTPBody("generated"), named, base)
        let echo = try JSONDecoder().decode(Outside.Echo.self, from: try await bytes(of: body))
        try check("a generated client's transport", head.status == .ok && echo.body == "generated")
        try check("its operation's name", names.withLock { $0 } == ["echo"])
        try check("its known length", echo.values(of: "content-length") == ["9"])

        let (missing, _) = try await operation("missing", .get, "/status/404", nil, client, base)
        try check("its 404", missing.status == .notFound)
        let (_, none) = try await operation("head", .head, "/bytes/100", nil, client, base)
        try check("its HEAD without a body", none == nil)
        let (_, known) = try await operation("bytes", .get, "/bytes/100", nil, client, base)
        let count = try await bytes(of: known).count
        try check("its response's length", known?.length == .known(100) && count == 100)
    }

    /// Over a transport in the process, where each chunk's time is known.
    func inProcess() async throws {
        let echo = InProcessTransport { request, body, response in
            if request.url.path == "/v1/moved" {
                while try await body.next() != nil {}
                return response.begin(
                    HTTPResponse(status: .temporaryRedirect, headerFields: [.location: "/v1/echo"]))
            }
            response.begin(HTTPResponse(status: request.url.path == "/v1/echo" ? .ok : .notFound))
            while let piece = try await body.next() { try await response.body.send(piece) }
        }
        let client = NetworkClient(transport: echo).with {
            $0.options.requestCompression = .none
            $0.options.totalTimeout = .seconds(10)
        }
        let base = "http://inside/v1/"

        // Each chunk is produced only after the one before it came back: nothing on the way waits for more.
        let turns = AsyncStream<[UInt8]>.makeStream()
        turns.continuation.yield([0])
        let speaking = HTTPBody(turns.stream, length: .unknown, iterationBehavior: .single)
        let (_, answers) = try await operation("turns", .post, "/echo", speaking, client, base)
        var heard: [UInt8] = []
        if let answers {
            for try await piece in answers {
                heard += piece
                if heard.count < 5 {
                    turns.continuation.yield([UInt8(heard.count)])
                } else {
                    turns.continuation.finish()
                }
            }
        }
        try check("both sides in turns", heard == [0, 1, 2, 3, 4])

        let (moved, text) = try await operation("moved", .post, "/moved", HTTPBody("again"), client, base)
        let again = try await bytes(of: text)
        try check("a body sent again", moved.status == .ok && again == Data("again".utf8))
        let once = AsyncStream<[UInt8]> {
            $0.yield([1]); $0.finish()
        }
        let single = HTTPBody(once, length: .known(1), iterationBehavior: .single)
        let (head, _) = try await operation("moved", .post, "/moved", single, client, base)
        try check("a body sent once", head.status == .temporaryRedirect)
    }

    /// Calls it through the protocol, as generated code does.
    private func operation(
        _ id: String, _ method: HTTPRequest.Method, _ path: String, _ body: HTTPBody?, _ client: NetworkClient,
        _ base: String
    ) async throws -> (HTTPResponse, HTTPBody?) {
        guard let url = URL(string: base) else { throw NetworkError(.invalidURL, "no URL: \(base)") }
        let transport: any ClientTransport = OpenAPITransport(client: client)
        var request = HTTPRequest(method: method, scheme: nil, authority: nil, path: path)
        // The runtime sets it with each body of known length.
        if case .known(let length) = body?.length { request.headerFields[.contentLength] = String(length) }
        return try await transport.send(request, body: body, baseURL: url, operationID: id)
    }

    private func bytes(of body: HTTPBody?) async throws -> Data {
        var bytes = Data()
        if let body { for try await piece in body { bytes += piece } }
        return bytes
    }
}

private struct TemplateSpy: Interceptor {
    let see: @Sendable (String?) -> Void

    func intercept(_ request: TransportRequest, in call: Call, next: Next) async throws -> TransportResponse {
        see(request.template)
        return try await next(request)
    }
}
