import CCurl
import CLibrary
import Synchronization

/// The libcurl that this process runs with: initialized once, then queried for its version and features.
enum Libcurl {
    /// The installed libcurl. Reading this property initializes libcurl.
    static let found: LibcurlSupport = {
        keepOpenSSLAtExit()
        let status = CurlMemory.initialise()
        return readSupport(initialisation: Int(status.rawValue))
    }()

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
            features: unsafe featureNames(bits: Int(info.features)),
            protocols: unsafe strings(info.protocols),
            defaultCAFile: unsafe info.cainfo.map { unsafe String(cString: $0) },
            defaultCADirectory: unsafe info.capath.map { unsafe String(cString: $0) },
            initialisation: initialisation
        )
    }

    private static func featureNames(bits: Int) -> Set<String> {
        if let names = unsafe ccurl_feature_names() { return unsafe Set(strings(names)) }
        let named: [(bit: Int, name: String)] = [
            (0, "IPv6"), (2, "SSL"), (3, "libz"), (4, "NTLM"), (7, "AsynchDNS"), (8, "SPNEGO"), (9, "Largefile"),
            (10, "IDN"), (16, "HTTP2"), (17, "GSS-API"), (18, "Kerberos"), (19, "UnixSockets"), (20, "PSL"),
            (21, "HTTPS-proxy"), (23, "brotli"), (24, "alt-svc"), (25, "HTTP3"), (26, "zstd"), (28, "HSTS"),
            (30, "threadsafe"),
        ]
        return Set(named.filter { bits & (1 << $0.bit) != 0 }.map(\.name))
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
