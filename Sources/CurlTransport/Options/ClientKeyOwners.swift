import FoundationEssentials
import NetworkCore
import Synchronization

/// Whose private key opened the connections that show a client certificate.
///
/// libcurl hands a kept connection to any request with the same certificate, whatever its key and the key's password
/// (Curl_ssl_config_matches). So the first key and password for a certificate share its connections, and a request with
/// others has one of its own.
final class ClientKeyOwners: Sendable {
    /// What opens a certificate's key. Byte by byte: text that only means the same is another password.
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
    /// How many certificates are remembered; with one more, no connection is shared.
    private static let maximumCertificates = 1_024

    /// What a request needs besides its own options.
    func options(for request: TransportRequest) -> [any EasyOption] {
        guard request.options.hasRareOptions, let certificate = request.options.tls.clientCertificate,
            !isOwner(certificate)
        else { return [] }
        return [LoneConnectionOption()]
    }

    /// Whether a request may share the connections that show its certificate.
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
