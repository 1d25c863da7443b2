import NetworkCore

/// A libcurl version.
struct LibcurlVersion: Comparable, Sendable, CustomStringConvertible {
    let major: Int
    let minor: Int
    let patch: Int

    init(_ major: Int, _ minor: Int, _ patch: Int = 0) {
        self.major = major
        self.minor = minor
        self.patch = patch
    }

    static func < (left: LibcurlVersion, right: LibcurlVersion) -> Bool {
        (left.major, left.minor, left.patch) < (right.major, right.minor, right.patch)
    }

    var description: String { "\(major).\(minor).\(patch)" }
}

/// What the installed libcurl can do, and which faults it has. No other code decides anything by version.
struct LibcurlSupport: Sendable {
    let version: LibcurlVersion
    let tlsLibrary: String?
    let features: Set<String>
    let protocols: [String]
    let defaultCAFile: String?
    /// The directory of authorities that libcurl was built with, if there is one.
    let defaultCADirectory: String?
    /// The result of curl_global_init; 0 is success.
    let initialisation: Int
    /// Whether HTTP/2 is negotiated by default: only where no known fault is left.
    let http2ByDefault: Bool
    private let pausesHTTP2: Bool

    init(
        version: LibcurlVersion, tlsLibrary: String?, features: Set<String>, protocols: [String],
        defaultCAFile: String?, defaultCADirectory: String? = nil, initialisation: Int
    ) {
        self.version = version
        self.tlsLibrary = tlsLibrary
        self.features = features
        self.protocols = protocols
        self.defaultCAFile = defaultCAFile
        self.defaultCADirectory = defaultCADirectory
        self.initialisation = initialisation
        let pausing: [Quirk] = [.http2BodiesMix, .http2PauseLosesData, .http2ResumeStalls]
        pausesHTTP2 = !pausing.contains { $0.concerns(version) }
        http2ByDefault = features.contains("HTTP2") && pausesHTTP2
    }

    /// Whether a URL that is given in parts is written again for each transfer, whatever text was given with it.
    var writesURLFromParts: Bool { version >= LibcurlVersion(8, 14) }

    /// The oldest libcurl that the library works with: Debian 12's.
    static let oldest = LibcurlVersion(7, 88)

    /// Whether the transfers of a multi handle share one receive buffer instead of having one each (8.7).
    var sharesReceiveBuffer: Bool { version >= LibcurlVersion(8, 7) }

    /// The faults of single versions, with what the library does about each, and the test that fails without it.
    /// `scripts/libcurl-faults` writes them into SECURITY.md.
    enum Quirk: String, CaseIterable, Sendable {
        /// Bytes of one HTTP/2 body appear in another, and a body that just fills the receive buffer never ends: what
        /// did not fit stays in the connection's buffer, which the next read of any stream refills.
        /// Measure: HTTP/2 and 3 are refused, but for lookups over HTTPS, whose replies of at most 3,000 bytes fit.
        /// Test: `LibcurlSupportTests`.
        case http2BodiesMix
        /// A paused HTTP/2 transfer may succeed with data missing.
        /// Measure: HTTP/2 only where a request asks for it, and without pauses of bodies.
        /// Test: `LibcurlSupportTests`.
        case http2PauseLosesData
        /// The HTTP/2 window is not restored when a stream resumes.
        /// Measure: HTTP/2 only where a request asks for it, and without pauses of bodies.
        /// Test: `LibcurlSupportTests`.
        case http2ResumeStalls
        /// A transfer with limited bandwidth reads a hundred buffers' worth at once before it waits.
        /// Measure: smaller buffers for such transfers.
        /// Test: `RateOptionTests`.
        case limitedReceivingBursts
        /// A transfer with limited bandwidth stops the others of its HTTP/2 connection, or reads too much at once.
        /// Measure: HTTP/1.1 for such transfers; HTTP/2 by prior knowledge is refused.
        /// Test: `RateOptionTests`.
        case http2ReceivingLimitFails
        /// After an address has refused the connection, libcurl tries the next one only when half of the connect time
        /// is over; after one that stays silent, never (below 8.2, which also closes its socket without a report).
        /// Measure: libcurl is made to go on when the socket is closed; a connecting transfer runs each half second.
        /// Test: `RefusedAddressTests`.
        case refusedAddressesWait
        /// Of several transfers with limited bandwidth, one may wait for a timer that never comes. Seen with 8.23 and
        /// not with 8.14; the limits were rewritten in 8.18.
        /// Measure: a transfer that has not moved for 2.5 s runs again; at low rates, after the time that 128 KiB take.
        /// Test: `RateOptionTests`.
        case ratedTransfersStall
        /// A proxy's user and password are percent-decoded, which no option documents.
        /// Measure: percent signs are encoded; with the proxy's Digest, which decodes twice, they are refused.
        /// Test: `ProxyOptionTests`.
        case proxyCredentialsAreDecoded
        /// Lookups over HTTPS trust libcurl's own authorities besides those that the request names instead.
        /// Measure: libcurl's directory is replaced by one without certificates; a directory of the request is refused.
        /// Test: `LibcurlSupportTests`.
        case lookUpsTrustOwnAuthorities
        /// The file of authorities that is cleared (CURLOPT_CAINFO) is libcurl's own again. By its source; not seen
        /// with 8.23.
        /// Measure: a directory of authorities is refused.
        /// Test: `LibcurlSupportTests`.
        case clearedFileReturns
        /// The directory of authorities that is cleared (CURLOPT_CAPATH) is libcurl's own again. By its source.
        /// Measure: it is replaced by one without certificates, at the price of libcurl's cache of authorities.
        /// Test: `LibcurlSupportTests`.
        case clearedDirectoryReturns
        /// A lookup over HTTPS that is abandoned uses freed memory (https://github.com/curl/curl/issues/14207). Seen
        /// with 8.6 and 8.8, and not with 8.4.
        /// Measure: such lookups are refused.
        /// Test: `LookUpTests`, which crashes without it.
        case lookUpsUseFreedMemory
        /// That a server refused a stream of HTTP/2 is not in the log but in its trace of HTTP/2.
        /// Measure: the trace is on where the log is.
        /// Test: `HTTP2EndingTests`.
        case refusedStreamsAreTraced
        /// The end of a connection that TLS does not announce ends a body without a length as if it were complete.
        /// Measure: OpenSSL is made to report an error (`truncatedBody`); nothing with another TLS library.
        /// Test: `TLSSurplusTests`.
        case cutBodiesAreWhole

        var fixedIn: LibcurlVersion {
            switch self {
            // From then on each stream has its own queues (bufq).
            case .http2BodiesMix: LibcurlVersion(8, 1)
            case .http2PauseLosesData: LibcurlVersion(8, 4)
            case .http2ResumeStalls: LibcurlVersion(8, 14)
            // The next attempt has no socket yet, and nothing runs it (EXPIRE_RUN_NOW).
            case .refusedAddressesWait: LibcurlVersion(8, 4)
            case .proxyCredentialsAreDecoded: LibcurlVersion(8, 8)
            case .refusedStreamsAreTraced: LibcurlVersion(8, 20)
            // From then on libcurl reports such an end to OpenSSL (BIO_CTRL_EOF).
            case .cutBodiesAreWhole: LibcurlVersion(8, 14)
            case .lookUpsUseFreedMemory: LibcurlVersion(8, 9)
            case .lookUpsTrustOwnAuthorities: LibcurlVersion(8, 17)
            case .clearedFileReturns: LibcurlVersion(8, 23)
            case .limitedReceivingBursts, .http2ReceivingLimitFails: LibcurlVersion(8, 2)
            // In no version yet.
            case .ratedTransfersStall, .clearedDirectoryReturns: LibcurlVersion(99, 0)
            }
        }

        var since: LibcurlVersion {
            switch self {
            case .limitedReceivingBursts, .refusedAddressesWait: LibcurlVersion(7, 88)
            case .ratedTransfersStall: LibcurlVersion(8, 18)
            case .refusedStreamsAreTraced: LibcurlVersion(8, 3)
            case .lookUpsUseFreedMemory: LibcurlVersion(8, 5)
            case .clearedFileReturns, .clearedDirectoryReturns: LibcurlVersion(8, 21)
            default: LibcurlVersion(0, 0)
            }
        }

        func concerns(_ version: LibcurlVersion) -> Bool { version >= since && version < fixedIn }
    }

    /// Whether a handle may carry a second transfer. Below 8.1 a folded first header line of its response is added to
    /// the freed last one of the response before. Newer versions than these have not been tried.
    var keepsHandles: Bool { version >= LibcurlVersion(8, 1) && version < LibcurlVersion(8, 24) }

    func suffers(from quirk: Quirk) -> Bool { quirk.concerns(version) }

    /// Returns whether a body may be paused for a slow reader. Below 8.14, HTTP/2 bodies may not: they may stall,
    /// starve their connection, or lose data.
    func isPausable(_ version: TransportOptions.HTTPVersion) -> Bool {
        switch version {
        // Automatic is HTTP/2 only where it has no such fault.
        case .http1_0, .http1_1, .automatic: true
        case .http2, .http2PriorKnowledge, .http3, .http3Only: pausesHTTP2
        }
    }

    /// Whether requests may become ones of HTTP/3 unasked. Older versions than this one have not been tried with a real
    /// server.
    var upgradesToHTTP3: Bool { features.contains("HTTP3") && version >= LibcurlVersion(8, 23) }

    /// Returns whether a request certainly goes out over HTTP/1.
    func speaksHTTP1(_ version: TransportOptions.HTTPVersion, isSecure: Bool) -> Bool {
        switch version {
        case .http1_0, .http1_1: true
        case .automatic: !(isSecure && http2ByDefault)
        case .http2, .http3: !isSecure
        case .http2PriorKnowledge, .http3Only: false
        }
    }

    /// Returns the size of the receive buffer in bytes (CURLOPT_BUFFERSIZE). With a large buffer, large bodies need far
    /// fewer system calls. Before 8.7 each running transfer has its own buffer, so it is large only while few transfers
    /// run.
    /// - Parameter running: The number of running transfers.
    func receiveBufferBytes(running: Int) -> Int {
        if sharesReceiveBuffer { return Self.largeBuffer }
        return Self.largeBuffers.first(where: { running <= $0.transfers })?.bytes ?? Self.defaultBuffer
    }

    /// Returns the size of the receive buffer in bytes for a transfer whose bandwidth may be limited. Such a transfer
    /// reads a whole buffer at once, which should be at most a second's worth, or a quarter of that in all where
    /// libcurl reads a hundred buffers at once. libcurl's minimum is 1 KiB.
    /// - Parameter rate: The limit of the receive rate in bytes per second, if there is one.
    func receiveBufferBytes(rate: Int?) -> Int {
        guard let rate else { return Self.defaultBuffer }
        return min(max(suffers(from: .limitedReceivingBursts) ? rate / 400 : rate, 1024), Self.defaultBuffer)
    }

    /// The buffer sizes in bytes while few transfers run, each with the number of transfers up to which it applies.
    static let largeBuffers: [(transfers: Int, bytes: Int)] = [(16, 2 * largeBuffer), (fewTransfers, largeBuffer)]
    static let largeBuffer = 256 * 1024
    /// libcurl's default size.
    static let defaultBuffer = 16 * 1024
    /// The number of transfers up to which each may use more memory.
    static let fewTransfers = 64
    /// The number of transfers whose buffers of libcurl's default size are kept apart from longer-lived memory
    /// (``CurlMemory``).
    static let manyTransfers = 1024

    /// Returns the size in bytes of the buffer through which a body is sent (CURLOPT_UPLOAD_BUFFERSIZE): large while
    /// few transfers run, for a body that does not fit into libcurl's own. From 8.7 on each handle keeps its buffer to
    /// its end.
    /// - Parameters:
    ///   - running: The number of running transfers.
    ///   - body: The body's length in bytes, if known.
    func uploadBufferBytes(running: Int, body: Int?) -> Int {
        let isLarge = body.map { $0 > Self.defaultUploadBuffer } ?? true
        let mayBeLarge = !sharesReceiveBuffer && running <= Self.fewUploads
        return isLarge && mayBeLarge ? Self.largeUploadBuffer : Self.defaultUploadBuffer
    }

    /// libcurl's default size.
    static let defaultUploadBuffer = 64 * 1024
    /// Half this size gains nothing.
    static let largeUploadBuffer = 1024 * 1024
    static let fewUploads = 16
}
