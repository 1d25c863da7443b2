/// TLS failures, recognized by the messages of TLS libraries and of libcurl, for failures without an error number or
/// with one that says only that TLS failed.
package enum TLSFault {
    /// Returns the code for a message, or `nil` if the message contains no known phrase.
    package static func code(for text: String) -> NetworkError.Code? {
        let words = text.lowercased()
        return clues.first { clue in clue.words.contains { words.contains($0) } }?.code
    }

    /// Returns whether a message says that the connection ended in the handshake: no verdict on anything, and perhaps
    /// only a server that starts.
    package static func isEndOfConnection(_ text: String) -> Bool {
        let words = text.lowercased()
        return ends.contains { words.contains($0) }
    }

    private static let ends = [
        "connection reset", "unexpected eof", "ssl_error_syscall", "broken pipe", "non-properly terminated",
        "error in the pull function",
        // libcurl 8.12: OpenSSL has no error for it.
        "lib(0)::reason(0)",
    ]

    package static func sentence(for code: NetworkError.Code, in text: String = "") -> String {
        switch code {
        case .tlsFailed where text.lowercased().contains("wrong version number"):
            "the server does not speak TLS; the port may be one for http"
        case .certificateExpired: "the server's certificate has expired"
        case .certificateNotYetValid: "the server's certificate is not valid yet, by this machine's clock"
        case .certificateHostMismatch: "the server's certificate is for other hosts"
        case .certificateSelfSigned: "the server's certificate is self-signed"
        case .certificateUntrusted:
            "the server's certificate comes from an authority that is not trusted (tls.authorities)"
        case .certificateRevoked: "the server's certificate was revoked"
        case .pinnedKeyMismatch: "the server's key is none of the pinned ones (tls.pinnedPublicKeys)"
        case .tlsVersionRefused: "client and server have no version of TLS in common"
        case .clientCertificateRequired: "the server requires a client certificate (tls.clientCertificate)"
        case .clientCertificateRefused: "the server does not accept the client certificate"
        case .clientCertificateUnusable: "the client certificate or its key can't be used (tls.clientCertificate)"
        default: "the TLS connection could not be made or trusted"
        }
    }

    /// In this order: an alert is the server's verdict on the client certificate; the other phrases are verdicts on the
    /// server's.
    private static let clues: [(words: [String], code: NetworkError.Code)] = [
        (["alert certificate required", "certificate is required"], .clientCertificateRequired),
        (
            [
                "alert bad certificate", "alert unsupported certificate", "alert certificate revoked",
                "alert certificate expired", "alert certificate unknown", "alert unknown ca", "alert access denied",
            ], .clientCertificateRefused
        ),
        (["private key file", "encrypted key file"], .clientCertificateUnusable),
        (["pinned public key", "pinned pubkey"], .pinnedKeyMismatch),
        (
            [
                "protocol version", "unsupported protocol", "wrong ssl version", "no protocols available",
                "version too low", "unsupported version",
            ], .tlsVersionRefused
        ),
        // Before those of one word: such a message names the host.
        (["subject name", "does not match target host", "hostname mismatch"], .certificateHostMismatch),
        (["revoked"], .certificateRevoked),
        (["not yet valid", "not activated", "not valid yet"], .certificateNotYetValid),
        (["has expired", "expired certificate", "certificate expired"], .certificateExpired),
        (["certificate in certificate chain"], .certificateUntrusted),
        (["self-signed certificate", "self signed certificate"], .certificateSelfSigned),
        (
            [
                "local issuer", "get issuer", "issuer certificate", "unknown issuer", "unknown authority",
                "signer not found", "signer not trusted", "certificate verification failed",
            ], .certificateUntrusted
        ),
    ]
}
