import NetworkLayer
import NetworkTesting

/// `scripts/peers/tls-front`, which speaks TLS for a scripted server.
final class TLSFront: Sendable {
    private let peer: TLSPeer
    var port: Int { peer.port }

    /// - Parameter segment: The largest TCP segment in bytes. With a small one, a client's system takes tens of
    ///   kilobytes of what the client sends, and then no more until they are read.
    init(to server: ScriptedServer, segment: Int? = nil) throws {
        peer = try TLSPeer("tls-front", options: segment.map { ["\($0)"] } ?? [], line: "\(server.port)\n")
    }

    /// The front as a proxy, trusted by the authority that the peers created.
    var proxy: TransportOptions.Proxy.Server {
        var proxy = TransportOptions.Proxy.Server("https://localhost:\(port)")
        proxy.authorities = .file(Peers.tlsFolder + "/ca.pem")
        return proxy
    }
}
