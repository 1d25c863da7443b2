import NetworkLayer
import NetworkTesting

/// `scripts/peers/tls-front`, which speaks TLS for a scripted server.
final class TLSFront: Sendable {
    private let peer: TLSPeer
    var port: Int { peer.port }

    init(to server: ScriptedServer) throws { peer = try TLSPeer("tls-front", line: "\(server.port)\n") }

    /// The front as a proxy, trusted by the authority that the peers created.
    var proxy: TransportOptions.Proxy.Server {
        var proxy = TransportOptions.Proxy.Server("https://localhost:\(port)")
        proxy.authorities = .file(Peers.tlsFolder + "/ca.pem")
        return proxy
    }
}
