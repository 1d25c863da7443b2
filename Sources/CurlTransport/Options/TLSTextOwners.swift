import FoundationEssentials
import NetworkCore

/// The spellings of TLS settings that opened connections and created sessions.
///
/// libcurl ignores the case of TLS settings when it looks for a kept connection (pinned keys below 8.21; paths too,
/// below 7.78) or for a session (paths, from 8.12 to 8.22). So requests with the first spelling share both, and a
/// request with another spelling uses a connection of its own and no session (``ConnectionOwners``). A spelling stays
/// the first for the dispatcher's life, since a session lives longer than a connection.
final class TLSTextOwners: Sendable {
    /// The texts, in a fixed order; the server's or a proxy's, which may be one server.
    private typealias Texts = [[UInt8]?]

    private let owners = ConnectionOwners<Texts, Texts>(forgets: false)

    /// Adds the options of a request that may not share: ``isOwner(_:more:)``.
    func add(to sharing: inout ConnectionSharing, for request: TransportRequest) {
        guard request.options.hasRareOptions else { return }
        var isOwner = self.isOwner(request.options.tls, more: PlainOptions.all.map { $0.text(in: request.options) })
        if case .explicit(let proxy) = request.options.proxy.choice, proxy.isHTTPS {
            var settings = TransportOptions.TLS()
            settings.authorities = proxy.authorities
            // Both are checked, so that each is remembered.
            isOwner = self.isOwner(settings) && isOwner
        }
        if !isOwner { sharing.add(nil, or: LoneConnectionOption(), NoSessionOption()) }
    }

    /// Returns whether a request may share connections and sessions with others of these settings.
    /// - Parameter more: The texts of the plain options, in a fixed order. Default: none of them has a text.
    func isOwner(_ tls: TransportOptions.TLS, more: [String?] = PlainOptions.all.map { _ in nil }) -> Bool {
        let own: Texts = [
            Self.text(tls.authorities), Self.text(tls.clientCertificate?.certificate),
            tls.pinnedPublicKeys.isEmpty ? nil : Array(tls.pinnedPublicKeys.joined(separator: ";").utf8),
            tls.ciphers.map { Array($0.utf8) }, tls.cipherSuites.map { Array($0.utf8) },
        ]
        let texts = own + more.map { $0.map { Array($0.utf8) } }
        guard texts.contains(where: { $0 != nil }) else { return true }
        let folded = texts.map { $0?.map { (65...90).contains($0) ? $0 + 32 : $0 } }
        return owners.claim(folded, for: texts) != nil
    }

    /// Returns the text of a path; settings given as bytes need none, since libcurl compares them byte by byte.
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

/// Neither reuses nor stores TLS sessions (CURLOPT_SSL_SESSIONID_CACHE).
struct NoSessionOption: EasyOption {
    func apply(to easy: EasyHandle) throws { try easy.set(.tlsSessionCache, 0) }
}
