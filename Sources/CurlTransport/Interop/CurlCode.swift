import CCurl

/// A result code of libcurl (CURLcode, https://curl.se/libcurl/c/libcurl-errors.html).
struct CurlCode: RawRepresentable, Hashable, Sendable {
    let rawValue: Int

    init(rawValue: Int) { self.rawValue = rawValue }
    init(_ code: CURLcode) { rawValue = Int(code.rawValue) }

    /// libcurl's description of the code (curl_easy_strerror).
    var words: String? {
        unsafe curl_easy_strerror(CURLcode(rawValue: UInt32(rawValue))).map { unsafe String(cString: $0) }
    }

    static let badContentEncoding = CurlCode(CURLE_BAD_CONTENT_ENCODING)
    static let badFunctionArgument = CurlCode(CURLE_BAD_FUNCTION_ARGUMENT)
    static let couldNotConnect = CurlCode(CURLE_COULDNT_CONNECT)
    static let couldNotResolveHost = CurlCode(CURLE_COULDNT_RESOLVE_HOST)
    static let couldNotResolveProxy = CurlCode(CURLE_COULDNT_RESOLVE_PROXY)
    static let gotNothing = CurlCode(CURLE_GOT_NOTHING)
    static let http2 = CurlCode(CURLE_HTTP2)
    static let http2Stream = CurlCode(CURLE_HTTP2_STREAM)
    static let http3 = CurlCode(CURLE_HTTP3)
    static let quicConnectError = CurlCode(CURLE_QUIC_CONNECT_ERROR)
    static let interfaceFailed = CurlCode(CURLE_INTERFACE_FAILED)
    static let notBuiltIn = CurlCode(CURLE_NOT_BUILT_IN)
    static let ok = CurlCode(CURLE_OK)
    static let timedOut = CurlCode(CURLE_OPERATION_TIMEDOUT)
    static let outOfMemory = CurlCode(CURLE_OUT_OF_MEMORY)
    static let partialFile = CurlCode(CURLE_PARTIAL_FILE)
    static let peerFailedVerification = CurlCode(CURLE_PEER_FAILED_VERIFICATION)
    static let proxy = CurlCode(CURLE_PROXY)
    static let recvError = CurlCode(CURLE_RECV_ERROR)
    static let sendError = CurlCode(CURLE_SEND_ERROR)
    static let sendFailRewind = CurlCode(CURLE_SEND_FAIL_REWIND)
    static let badAuthoritiesFile = CurlCode(CURLE_SSL_CACERT_BADFILE)
    static let clientCertificateProblem = CurlCode(CURLE_SSL_CERTPROBLEM)
    static let tlsCipher = CurlCode(CURLE_SSL_CIPHER)
    static let tlsConnectError = CurlCode(CURLE_SSL_CONNECT_ERROR)
    static let badRevocationFile = CurlCode(CURLE_SSL_CRL_BADFILE)
    static let tlsEngineInitFailed = CurlCode(CURLE_SSL_ENGINE_INITFAILED)
    static let tlsEngineNotFound = CurlCode(CURLE_SSL_ENGINE_NOTFOUND)
    static let tlsEngineSetFailed = CurlCode(CURLE_SSL_ENGINE_SETFAILED)
    static let invalidCertificateStatus = CurlCode(CURLE_SSL_INVALIDCERTSTATUS)
    static let tlsIssuerError = CurlCode(CURLE_SSL_ISSUER_ERROR)
    static let pinnedKeyMismatch = CurlCode(CURLE_SSL_PINNEDPUBKEYNOTMATCH)
    static let tlsShutdownFailed = CurlCode(CURLE_SSL_SHUTDOWN_FAILED)
    static let unknownOption = CurlCode(CURLE_UNKNOWN_OPTION)
    static let unsupportedProtocol = CurlCode(CURLE_UNSUPPORTED_PROTOCOL)
    static let malformedURL = CurlCode(CURLE_URL_MALFORMAT)
    static let useTLSFailed = CurlCode(CURLE_USE_SSL_FAILED)
    static let weirdServerReply = CurlCode(CURLE_WEIRD_SERVER_REPLY)
    static let writeError = CurlCode(CURLE_WRITE_ERROR)
    /// CURLE_SSL_CLIENTCERT.
    static let clientCertificateRequired = CurlCode(rawValue: 98)
    /// CURLE_TOO_LARGE, 8.6.
    static let tooLarge = CurlCode(rawValue: 100)
}
