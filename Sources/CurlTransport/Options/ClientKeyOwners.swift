import FoundationEssentials
import NetworkCore
import Synchronization

/// The private keys that opened the connections with each client certificate.
///
/// libcurl reuses a connection for any request with the same certificate, whatever its key and the key's password
/// (Curl_ssl_config_matches). So requests with the first key and password for a certificate share its connections, and
/// a request with others uses a connection of its own.
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

    private let owners = Guarded<[TransportOptions.TLS.Source: Key]>([:])
    /// The number of certificates to remember. Connections with further certificates are not shared.
    private static let maximumCertificates = 1_024

    /// Returns the options that a request needs in addition to its own.
    func options(for request: TransportRequest) -> [any EasyOption] {
        guard request.options.hasRareOptions, let certificate = request.options.tls.clientCertificate,
            !isOwner(certificate)
        else { return [] }
        return [LoneConnectionOption()]
    }

    /// Returns whether a request may share the connections that use its certificate.
    func isOwner(_ certificate: TransportOptions.TLS.ClientCertificate) -> Bool {
        let key = Key(certificate)
        return owners.withLock { owners in
            if let owner = owners[certificate.certificate] { return owner == key }
            guard owners.count < Self.maximumCertificates else { return false }
            owners[certificate.certificate] = key
            return true
        }
    }
}
