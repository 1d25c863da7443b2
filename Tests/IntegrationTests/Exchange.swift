import Foundation
import NetworkLayer
import TestSupport

/// One exchange, with its body read to the end.
struct Exchange: Sendable {
    let status: Int
    let body: Data
    let metrics: TransportMetrics
    let trailers: HTTPFields?
    var text: String { String(decoding: body, as: UTF8.self) }

    /// Sends over curl by default, with the options' own authorities.
    init(
        _ url: RequestURL, _ method: HTTPRequest.Method? = nil, body: TransportRequest.Body? = nil,
        fields: HTTPFields = [:], over transport: any HTTPTransport = CurlNetworkDispatcher.shared,
        options change: (inout TransportOptions) throws -> Void = { _ in }
    ) async throws {
        var request = TransportRequest(
            method: method ?? (body == nil ? .get : .post), url: url, headerFields: fields, body: body)
        request.options.totalTimeout = .seconds(30 * patienceFactor)
        try change(&request.options)
        try await self.init(transport.send(request))
    }

    /// Reads a response to its end.
    init(_ response: TransportResponse) async throws {
        body = try await response.body.collect()
        (status, metrics, trailers) = (response.head.status.code, response.metrics, response.body.trailers)
    }

    /// Sends to a TLS peer, and trusts the authority that the peers created.
    init(
        _ server: Peers.TLS, _ path: String = "/whoami", host: String = "localhost",
        over transport: any HTTPTransport = CurlNetworkDispatcher.shared,
        options change: (inout TransportOptions) throws -> Void = { _ in }
    ) async throws {
        try await self.init(Peers.url(server, path, host: host), over: transport) {
            $0.trustPeers()
            try change(&$0)
        }
    }
}

extension TransportOptions {
    /// Trusts the authority that the peers created.
    mutating func trustPeers() { tls.authorities = .file(Peers.tlsFolder + "/ca.pem") }
}

extension [Exchange] {
    /// The local addresses of the connections that carried the exchanges.
    var connections: Set<String> { Set(compactMap(\.metrics.localAddress)) }
}
