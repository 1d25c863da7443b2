import CCurl
import CLibrary
import Synchronization

/// The libcurl that this process runs with: initialized once, then queried for its version and features.
enum Libcurl {
    /// The installed libcurl. Reading this property initializes libcurl.
    static let found: LibcurlSupport = {
        keepOpenSSLAtExit()
        let status = CurlMemory.initialise()
        let support = readSupport(initialisation: Int(status.rawValue))
        if support.suffers(from: .refusedStreamsAreTraced) { traceHTTP2() }
        return support
    }()

    /// Lets the log of a handle that writes one contain what HTTP/2 does (curl_global_trace(3), 8.3).
    private static func traceHTTP2() {
        typealias Trace = @convention(c) (UnsafePointer<CChar>) -> CURLcode
        guard let symbol = unsafe dlsym(nil, "curl_global_trace") else { return }
        _ = unsafe unsafeBitCast(symbol, to: Trace.self)("http/2")
    }

    /// Keeps OpenSSL's exit handler from running: it cleans up while loop threads may be in the middle of a handshake,
    /// and crashes the process. OPENSSL_init_crypto(OPENSSL_INIT_NO_ATEXIT) before the first use turns it off. The
    /// function is looked up at run time, because libcurl may be built on another TLS library.
    private static func keepOpenSSLAtExit() {
        typealias Initialise = @convention(c) (UInt64, OpaquePointer?) -> Int32
        let noAtExit: UInt64 = 0x0008_0000
        guard let symbol = unsafe dlsym(nil, "OPENSSL_init_crypto") else { return }
        _ = unsafe unsafeBitCast(symbol, to: Initialise.self)(noAtExit, nil)
    }

    private static func readSupport(initialisation: Int) -> LibcurlSupport {
        let info = unsafe ccurl_version_info().pointee
        let number = unsafe Int(info.version_num)
        return unsafe LibcurlSupport(
            version: LibcurlVersion(number >> 16 & 0xFF, number >> 8 & 0xFF, number & 0xFF),
            tlsLibrary: info.ssl_version.map { unsafe String(cString: $0) },
            features: unsafe Set(strings(ccurl_feature_names())),
            protocols: unsafe strings(info.protocols),
            defaultCAFile: unsafe info.cainfo.map { unsafe String(cString: $0) },
            defaultCADirectory: unsafe info.capath.map { unsafe String(cString: $0) },
            initialisation: initialisation
        )
    }

    private static func strings(_ list: UnsafePointer<UnsafePointer<CChar>?>?) -> [String] {
        var result: [String] = []
        var next = unsafe list
        while let at = unsafe next, let text = unsafe at.pointee {
            unsafe result.append(String(cString: text))
            unsafe next = at + 1
        }
        return result
    }
}
