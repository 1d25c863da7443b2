import Foundation
import NetworkLayer
import TestSupport
import Testing

/// HTTP/2 over curl to one peer, on its own connections, so that each test counts only its own.
struct HTTP2Client {
    let dispatcher = CurlNetworkDispatcher()
    let base: String
    var version = TransportOptions.HTTPVersion.http2

    init(_ base: String?, version: TransportOptions.HTTPVersion = .http2) throws {
        (self.base, self.version) = (try #require(base), version)
    }

    private func prepare(_ options: inout TransportOptions) {
        options.totalTimeout = .seconds(30 * patienceFactor)
        options.trustPeers()
        options.httpVersion = version
    }

    /// Sends a request and returns when the head has arrived.
    func start(_ path: String, method: HTTPRequest.Method = .get, body: TransportRequest.Body? = nil) async throws
        -> TransportResponse
    {
        var request = TransportRequest(method: method, url: try RequestURL(base + path), body: body)
        prepare(&request.options)
        return try await dispatcher.send(request)
    }

    /// Sends a request and reads the body to its end.
    func send(
        _ path: String, method: HTTPRequest.Method = .get, body: TransportRequest.Body? = nil, fields: HTTPFields = [:],
        within timeout: Duration = .seconds(30)
    ) async throws -> Exchange {
        try await Exchange(RequestURL(base + path), method, body: body, fields: fields, over: dispatcher) {
            prepare(&$0)
            $0.totalTimeout = timeout
        }
    }

    /// Sends the same request many times at once.
    func send(_ path: String, times count: Int) async throws -> [Exchange] {
        try await atOnce(count) { _ in try await send(path) }
    }
}
