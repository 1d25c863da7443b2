import Foundation
import NetworkLayer

/// curl over HTTP/3 to the servers of the contract, which speak HTTP/1.1: Caddy stands in front of them
/// (`scripts/peers/caddy`). What Caddy answers or changes itself is no case of this transport: `scripts/http3` has the
/// list.
struct HTTP3Front: HTTPTransport, NetworkDispatcher {
    /// The port of Caddy, if `scripts/http3` has started it.
    static let port = ProcessInfo.processInfo.environment["NETWORKLAYER_CADDY_PORT"]
    private static let authorities = ProcessInfo.processInfo.environment["NETWORKLAYER_TLS_FOLDER"].map {
        $0 + "/ca.pem"
    }
    private static let upstream = HTTPField.Name("X-Upstream")!
    private let curl = CurlNetworkDispatcher()

    var name: String { curl.name }
    var capabilities: TransportCapabilities { curl.capabilities }

    func send(_ request: TransportRequest) async throws -> TransportResponse {
        var request = request
        if request.url.scheme == "http", request.url.host == "127.0.0.1", let port = Self.port,
            let inner = request.url.port
        {
            request.headerFields[Self.upstream] = "\(inner)"
            let query = request.url.query.map { "?\($0)" } ?? ""
            request.url = try RequestURL("https://127.0.0.1:\(port)\(request.url.path)\(query)")
            request.options.httpVersion = .http3Only
            request.options.tls.authorities = Self.authorities.map { .file($0) } ?? .system
        }
        return try await curl.send(request)
    }
}
