import Foundation
import NetworkLayer

/// One exchange, with its body read to the end.
struct Exchange {
    let status: Int
    let text: String
    let metrics: TransportMetrics

    /// Sends over curl by default, and trusts the peers' own authority.
    init(
        _ url: RequestURL,
        over transport: any HTTPTransport = CurlNetworkDispatcher.shared,
        options change: (inout TransportOptions) -> Void = { _ in }
    ) async throws {
        var options = TransportOptions()
        options.totalTimeout = .seconds(30)
        change(&options)
        let response = try await transport.send(TransportRequest(url: url, options: options))
        text = String(decoding: try await response.body.collect(), as: UTF8.self)
        status = response.head.status.code
        metrics = response.metrics
    }
}

extension TransportOptions {
    /// Trusts the authority that the peers created.
    mutating func trustPeers() { tls.authorities = .file(Peers.tlsFolder + "/ca.pem") }
}
