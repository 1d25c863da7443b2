import FoundationEssentials
import NetworkCore
import Synchronization

/// Whose spelling of TLS settings opened connections and made sessions.
///
/// libcurl compares the texts of TLS settings without regard to case where it looks for a kept connection (pinned keys
/// below 8.21; paths too, below 7.78) or for a session (paths, from 8.12 to 8.22). So the first spelling shares both,
/// and a request with another has a connection of its own and no session.
final class TLSTextOwners: Sendable {
    /// The texts, in a fixed order; the server's or a proxy's, which may be one server.
    private typealias Texts = [[UInt8]?]

    private let owners = Guarded<[Texts: Texts]>([:])
    /// How many settings are remembered; with one more, nothing is shared.
    private static let maximumSettings = 1_024

    /// What a request needs besides its own options.
    func options(for request: TransportRequest) -> [any EasyOption] {
        guard request.options.hasRareOptions else { return [] }
        let tls = request.options.tls
        var isOwner = tls == TransportOptions.TLS() || self.isOwner(tls)
        if case .explicit(let proxy) = request.options.proxy.choice, proxy.isHTTPS {
            var settings = TransportOptions.TLS()
            settings.authorities = proxy.authorities
            // Both are asked, so that each is remembered.
            isOwner = self.isOwner(settings) && isOwner
        }
        return isOwner ? [] : [LoneConnectionOption(), NoSessionOption()]
    }

    /// Whether a request may share connections and sessions with others of these settings.
    func isOwner(_ tls: TransportOptions.TLS) -> Bool {
        let texts: Texts = [
            Self.text(tls.authorities), Self.text(tls.clientCertificate?.certificate),
            tls.pinnedPublicKeys.isEmpty ? nil : Array(tls.pinnedPublicKeys.joined(separator: ";").utf8),
            tls.ciphers.map { Array($0.utf8) }, tls.cipherSuites.map { Array($0.utf8) },
        ]
        guard texts.contains(where: { $0 != nil }) else { return true }
        let folded = texts.map { $0?.map { (65...90).contains($0) ? $0 + 32 : $0 } }
        return owners.withLock { owners in
            if let owner = owners[folded] { return owner == texts }
            guard owners.count < Self.maximumSettings else { return false }
            owners[folded] = texts
            return true
        }
    }

    /// What is given in bytes is compared byte by byte.
    private static func text(_ authorities: TransportOptions.TLS.Authorities) -> [UInt8]? {
        switch authorities {
        case .system, .bytes: nil
        case .file(let path): Array("file:\(path)".utf8)
        case .directory(let path): Array("directory:\(path)".utf8)
        }
    }

    private static func text(_ source: TransportOptions.TLS.Source?) -> [UInt8]? {
        if case .file(let path) = source { Array(path.utf8) } else { nil }
    }
}

/// Neither takes a TLS session of another request nor leaves one (CURLOPT_SSL_SESSIONID_CACHE).
struct NoSessionOption: EasyOption {
    func apply(to easy: EasyHandle) throws { try easy.set(.tlsSessionCache, 0) }
}
