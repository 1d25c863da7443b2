import NetworkCore
import Synchronization

/// The spellings of TLS settings that opened connections and created sessions.
///
/// libcurl ignores the case of TLS settings when it looks for a kept connection (pinned keys below 8.21; paths too,
/// below 7.78) or for a session (paths, from 8.12 to 8.22). So requests with the first spelling share both, and a
/// request with another spelling uses a connection of its own and no session. A spelling stays the first for the
/// dispatcher's life, since a session lives longer than a connection.
final class TLSTextOwners: Sendable {
    /// The first spelling of each text, by the text without its capitals.
    private let spellings = Guarded<[String: [UInt8]]>([:])
    /// The number of texts to remember. Requests with further ones share nothing.
    private static let maximumSettings = 1_024

    /// Adds the options of a request that may not share: ``isOwner(_:more:)``.
    func add(to sharing: inout ConnectionSharing, for request: TransportRequest) {
        guard request.options.hasRareOptions else { return }
        var isOwner = self.isOwner(request.options.tls, more: PlainOptions.texts(in: request.options))
        if case .explicit(let proxy) = request.options.proxy.choice, proxy.isHTTPS {
            var settings = TransportOptions.TLS()
            settings.authorities = proxy.authorities
            // Both are checked, so that each is remembered.
            isOwner = self.isOwner(settings) && isOwner
        }
        if !isOwner { sharing.add(nil, or: LoneConnectionOption(request: request), NoSessionOption()) }
    }

    /// Returns whether a request may share connections and sessions with others of these settings.
    /// - Parameter more: The texts of the plain options, in a fixed order; empty, the default, if none has a text.
    func isOwner(_ tls: TransportOptions.TLS, more: [String?] = []) -> Bool {
        // The server's settings or a proxy's, which may be one server.
        let texts = [
            Self.text(tls.authorities), Self.text(tls.clientCertificate?.certificate),
            tls.pinnedPublicKeys.isEmpty ? nil : tls.pinnedPublicKeys.joined(separator: ";"), tls.ciphers,
            tls.cipherSuites,
        ]
        let more = more.contains { $0 != nil } ? more : []
        guard !more.isEmpty || texts.contains(where: { $0 != nil }) else { return true }
        // One text, whose hash takes a fraction of the time of a list's. LF is in none of the parts.
        var text: [UInt8] = []
        for part in [texts, more].joined() {
            text.append(0x0A)
            if let part { text += part.utf8 } else { text.append(0x0A) }
        }
        let folded = String(decoding: text.map { (0x41...0x5A).contains($0) ? $0 | 0x20 : $0 }, as: UTF8.self)
        return spellings.withLock { spellings in
            // Equivalent Unicode texts have one place, and as other bytes they are other spellings.
            if let first = spellings[folded] { return first == text }
            guard spellings.count < Self.maximumSettings else { return false }
            spellings[folded] = text
            return true
        }
    }

    /// Returns the text of a path; settings given as bytes need none, since libcurl compares them byte by byte.
    private static func text(_ authorities: TransportOptions.TLS.Authorities) -> String? {
        switch authorities {
        case .system, .bytes: nil
        case .file(let path): "file:" + path
        case .directory(let path): "directory:" + path
        }
    }

    private static func text(_ source: TransportOptions.TLS.Source?) -> String? {
        if case .file(let path) = source { path } else { nil }
    }
}

/// Neither reuses nor stores TLS sessions (CURLOPT_SSL_SESSIONID_CACHE).
struct NoSessionOption: EasyOption {
    func apply(to easy: EasyHandle) throws { try easy.set(.tlsSessionCache, 0) }
}
