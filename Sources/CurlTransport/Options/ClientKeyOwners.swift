import FoundationEssentials
import NetworkCore

/// The private keys that opened the connections with each client certificate.
///
/// libcurl reuses a connection for any request with the same certificate, whatever its key and the key's password
/// (Curl_ssl_config_matches). So requests with the first key and password for a certificate share its connections, and
/// a request with others uses a connection of its own (``ConnectionOwners``).
final class ClientKeyOwners: Sendable {
    /// The key of a certificate. Compared byte by byte: an equivalent Unicode text is another password.
    private struct Key: Equatable {
        let path: [UInt8]?
        let bytes: Data?
        let password: [UInt8]?

        init(_ certificate: TransportOptions.TLS.ClientCertificate) {
            switch certificate.key ?? certificate.certificate {
            case .file(let path): (self.path, bytes) = (Array(path.utf8), nil)
            case .bytes(let bytes): (path, self.bytes) = (nil, bytes)
            }
            password = certificate.password.map { Array($0.value.utf8) }
        }
    }

    /// A session that the key before has made may be resumed: libcurl loads key and certificate before each handshake,
    /// and refuses a key that is not the certificate's.
    private let owners: ConnectionOwners<TransportOptions.TLS.Source, Key>

    /// - Parameter now: The time source.
    init(now: @escaping @Sendable () -> SuspendingClock.Instant = { .now }) {
        owners = ConnectionOwners(now: now)
    }

    /// Adds the request's claim to connections with its certificate, or the option with which it uses its own.
    func add(to sharing: inout ConnectionSharing, for request: TransportRequest) {
        guard request.options.hasRareOptions, let certificate = request.options.tls.clientCertificate else { return }
        sharing.add(claim(for: certificate), or: LoneConnectionOption(request: request))
    }

    /// Returns a request's claim to the connections that use its certificate; `nil` if they belong to another key.
    func claim(for certificate: TransportOptions.TLS.ClientCertificate) -> ConnectionClaim? {
        owners.claim(certificate.certificate, for: Key(certificate))
    }
}
