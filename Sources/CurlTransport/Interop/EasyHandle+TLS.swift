import CCurl
import CLibrary

extension EasyHandle {
    /// The TLS parameters of the connection to the server (CURLINFO_TLS_SSL_PTR). `nil` without TLS, with an
    /// unsupported TLS library, and once the connection has left the transfer: read it while the response arrives.
    var tlsSession: TLSSession? {
        guard let (library, session) = unsafe tls else { return nil }
        switch library {
        case ccurl_backend_openssl: return unsafe OpenSSL.library?.session(session)
        case ccurl_backend_gnutls: return unsafe GnuTLS.library?.session(session)
        default: return nil
        }
    }

    /// Whether the TLS library holds bytes of the transfer's connection that libcurl has not read.
    var holdsDecryptedBytes: Bool {
        guard let (library, session) = unsafe tls else { return false }
        switch library {
        case ccurl_backend_openssl: return unsafe OpenSSL.library?.hasPending(session) == 1
        case ccurl_backend_gnutls: return GnuTLS.library.map { unsafe $0.pending(session) > 0 } ?? false
        default: return false
        }
    }

    /// The protocol that the connection's ends have agreed upon (ALPN, RFC 7301): `h2`, `http/1.1`; empty for none.
    /// `nil` without TLS and with another TLS library than OpenSSL and GnuTLS.
    var negotiatedProtocol: [UInt8]? {
        guard let (library, session) = unsafe tls else { return nil }
        switch library {
        case ccurl_backend_openssl: return unsafe OpenSSL.library?.negotiated(session)
        case ccurl_backend_gnutls: return unsafe GnuTLS.library?.negotiated(session)
        default: return nil
        }
    }

    /// Makes each TLS connection of this handle end when its peer sends record after record without data
    /// (``TLSGuard``). libcurl passes the function on to the handles that it creates for lookups over HTTPS.
    func boundTLSRecords() throws {
        guard TLSGuard.isBounded else { return }
        try unsafe check(ccurl_easy_setopt_tls_callback(pointer, TLSGuard.prepare), "CURLOPT_SSL_CTX_FUNCTION")
    }

    /// The TLS library's number and its session; `nil` without TLS and without a connection.
    private var tls: (library: Int32, session: UnsafeMutableRawPointer)? {
        var library: Int32 = 0
        var session: UnsafeMutableRawPointer?
        guard unsafe ccurl_easy_getinfo_tls(pointer, &library, &session) == CURLE_OK else { return nil }
        return unsafe session.map { unsafe (library, $0) }
    }
}

/// GnuTLS's functions, looked up at run time like OpenSSL's.
@safe private struct GnuTLS: Sendable {
    typealias Number = @convention(c) (UnsafeRawPointer?) -> Int32
    typealias Count = @convention(c) (UnsafeRawPointer?) -> Int
    typealias Name = @convention(c) (Int32) -> UnsafePointer<CChar>?
    typealias Text = @convention(c) (UnsafeRawPointer?) -> UnsafePointer<CChar>?
    /// The last argument is a gnutls_datum_t: a pointer and a count.
    typealias Selected = @convention(c) (UnsafeRawPointer?, UnsafeMutableRawPointer) -> Int32

    let version: Number
    let versionName: Name
    /// From GnuTLS 3.7.4 on.
    let cipherSuite: Text?
    /// gnutls_record_check_pending(3).
    let pending: Count
    /// gnutls_alpn_get_selected_protocol(3).
    let selectedProtocol: Selected

    static let library: GnuTLS? = {
        guard let about = unsafe dlsym(nil, "gnutls_check_version"),
            let version = unsafe dlsym(nil, "gnutls_protocol_get_version"),
            let name = unsafe dlsym(nil, "gnutls_protocol_get_name"),
            let pending = unsafe dlsym(nil, "gnutls_record_check_pending"),
            let selected = unsafe dlsym(nil, "gnutls_alpn_get_selected_protocol"),
            let number = unsafe unsafeBitCast(about, to: Text.self)(nil).map({ unsafe String(cString: $0) }),
            Libcurl.found.tlsLibrary?.contains("GnuTLS/\(number)") == true
        else { return nil }
        return unsafe GnuTLS(
            version: unsafeBitCast(version, to: Number.self),
            versionName: unsafeBitCast(name, to: Name.self),
            cipherSuite: dlsym(nil, "gnutls_ciphersuite_get").map { unsafe unsafeBitCast($0, to: Text.self) },
            pending: unsafe unsafeBitCast(pending, to: Count.self),
            selectedProtocol: unsafeBitCast(selected, to: Selected.self)
        )
    }()

    /// Returns the protocol that both sides have agreed upon; empty if they have not.
    func negotiated(_ session: UnsafeRawPointer) -> [UInt8] {
        var selected: (start: UnsafePointer<UInt8>?, count: UInt32) = (nil, 0)
        guard unsafe selectedProtocol(session, &selected) == 0 else { return [] }
        return unsafe Array(UnsafeBufferPointer(start: selected.start, count: Int(selected.count)))
    }

    func session(_ session: UnsafeRawPointer) -> TLSSession {
        unsafe TLSSession(
            protocolName: ConstantText(versionName(version(session))),
            cipherName: ConstantText(cipherSuite?(session))
        )
    }
}
