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

/// What the libcurl found can do, and where it must not be trusted. The one place where a version decides anything.
struct LibcurlSupport: Sendable {
    let version: LibcurlVersion
    let tlsLibrary: String?
    let features: Set<String>
    let protocols: [String]
    let defaultCAFile: String?
    /// The result of curl_global_init; 0 is good.
    let initialisation: Int
    /// Whether HTTP/2 is negotiated without being asked for: only where no known fault is left.
    let http2ByDefault: Bool
    private let pausesHTTP2: Bool

    init(
        version: LibcurlVersion, tlsLibrary: String?, features: Set<String>, protocols: [String],
        defaultCAFile: String?, initialisation: Int
    ) {
        self.version = version
        self.tlsLibrary = tlsLibrary
        self.features = features
        self.protocols = protocols
        self.defaultCAFile = defaultCAFile
        self.initialisation = initialisation
        let pausing: [Quirk] = [.http2BodiesMix, .http2PauseLosesData, .http2ResumeStalls]
        pausesHTTP2 = !pausing.contains { $0.concerns(version) }
        http2ByDefault = features.contains("HTTP2") && pausesHTTP2
    }

    /// Something that came with a version.
    enum Feature: String, CaseIterable, Sendable {
        /// Removing a handle does not join its resolver thread (CURLOPT_QUICK_EXIT).
        case quickExit
        /// A connection's largest age since its creation (CURLOPT_MAXLIFETIME_CONN).
        case connectionLifetime
        /// One receive buffer for all transfers of a multi handle instead of one each.
        case sharedReceiveBuffer
        /// Requests signed for Amazon's services (CURLOPT_AWS_SIGV4).
        case awsSigV4
        /// Entries of CURLOPT_RESOLVE that age like looked-up ones.
        case agingResolveEntries
        /// Authorities from memory (CURLOPT_CAINFO_BLOB).
        case authoritiesInMemory
        /// A look at the connection before the request is sent (CURLOPT_PREREQFUNCTION).
        case requestCheck
        /// The count of keep-alive probes (CURLOPT_TCP_KEEPCNT).
        case keepAliveProbes
        /// Signs no path but one without segments of dots, `%2e` included (CURLOPT_AWS_SIGV4).
        case normalizedSignedPaths

        var since: LibcurlVersion {
            switch self {
            case .quickExit: LibcurlVersion(7, 87)
            case .connectionLifetime: LibcurlVersion(7, 80)
            case .sharedReceiveBuffer: LibcurlVersion(8, 7)
            case .awsSigV4, .agingResolveEntries: LibcurlVersion(7, 75)
            case .authoritiesInMemory: LibcurlVersion(7, 77)
            case .requestCheck: LibcurlVersion(7, 80)
            case .keepAliveProbes: LibcurlVersion(8, 9)
            case .normalizedSignedPaths: LibcurlVersion(8, 14)
            }
        }
    }

    /// A fault that ends with a version, and may have begun with one.
    enum Quirk: String, CaseIterable, Sendable {
        /// Bytes of one HTTP/2 body appear in another's, and one that just fills the receive buffer never ends: what
        /// did not fit stays in the connection's buffer, which the next read of any stream fills anew.
        case http2BodiesMix
        /// A paused HTTP/2 transfer may end well with data missing.
        case http2PauseLosesData
        /// The HTTP/2 window is not restored when a stream is resumed.
        case http2ResumeStalls
        /// A kept tunnel serves requests with other credentials for the proxy.
        case tunnelsIgnoreProxyCredentials
        /// A TLS session of the server is taken for the proxy's, or the other way round (CVE-2021-22890).
        case tlsSessionsMistakeProxy
        /// A transfer of limited bandwidth takes a hundred buffer-loads at once before it waits.
        case limitedReceivingBursts
        /// A transfer of limited bandwidth stops the others of its HTTP/2 connection, or takes too much at once there.
        case http2ReceivingLimitFails
        /// A body that was held back while libcurl asked for a challenge, and the next request's on that connection
        /// with it.
        case heldBackBodiesStay
        /// A kept connection over IPv4 serves a request that wants IPv6 alone, and the other way round.
        case ipVersionsShare
        /// When an address has refused, the next one is tried when half of the time for connecting is over.
        case refusedAddressesWait
        /// A proxy's user and password are taken as percent-encoded, which no option promises.
        case proxyCredentialsAreDecoded
        /// The end of a connection that TLS does not announce ends a body without a length, as if it were whole.
        case cutBodiesAreWhole

        var fixedIn: LibcurlVersion {
            switch self {
            // Each stream has queues of its own from then on (bufq).
            case .http2BodiesMix: LibcurlVersion(8, 1)
            case .http2PauseLosesData: LibcurlVersion(8, 4)
            case .http2ResumeStalls: LibcurlVersion(8, 14)
            case .heldBackBodiesStay: LibcurlVersion(8, 7)
            case .ipVersionsShare: LibcurlVersion(7, 77)
            // The next attempt has no socket yet, and nothing runs it (EXPIRE_RUN_NOW).
            case .refusedAddressesWait: LibcurlVersion(8, 4)
            case .proxyCredentialsAreDecoded: LibcurlVersion(8, 8)
            // From then on it tells OpenSSL of such an end (BIO_CTRL_EOF).
            case .cutBodiesAreWhole: LibcurlVersion(8, 14)
            case .tunnelsIgnoreProxyCredentials: LibcurlVersion(8, 19)
            case .tlsSessionsMistakeProxy: LibcurlVersion(7, 76)
            case .limitedReceivingBursts, .http2ReceivingLimitFails: LibcurlVersion(8, 2)
            }
        }

        var since: LibcurlVersion {
            switch self {
            case .limitedReceivingBursts, .refusedAddressesWait: LibcurlVersion(7, 88)
            default: LibcurlVersion(0, 0)
            }
        }

        func concerns(_ version: LibcurlVersion) -> Bool { version >= since && version < fixedIn }
    }

    func has(_ feature: Feature) -> Bool { version >= feature.since }
    func suffers(from quirk: Quirk) -> Bool { quirk.concerns(version) }

    /// Whether a body may be paused for a slow reader. HTTP/2 bodies not below 8.14: there they may stall, starve their
    /// connection or lose data.
    func isPausable(_ version: TransportOptions.HTTPVersion) -> Bool {
        switch version {
        // Automatic is HTTP/2 only where it has no such fault.
        case .http1_0, .http1_1, .automatic: true
        case .http2, .http2PriorKnowledge, .http3: pausesHTTP2
        }
    }

    /// Whether a request goes out over HTTP/1 for certain.
    func speaksHTTP1(_ version: TransportOptions.HTTPVersion, isSecure: Bool) -> Bool {
        switch version {
        case .http1_0, .http1_1: true
        case .automatic: !(isSecure && http2ByDefault)
        case .http2, .http3: !isSecure
        case .http2PriorKnowledge: false
        }
    }

    /// The receive buffer in bytes (CURLOPT_BUFFERSIZE). Large bodies come with far fewer system calls through a large
    /// one. Before 8.7 each running transfer has its own, so it is large only while few run.
    /// - Parameter running: How many transfers run.
    func receiveBufferBytes(running: Int) -> Int {
        if has(.sharedReceiveBuffer) { return Self.largeBuffer }
        return Self.largeBuffers.first(where: { running <= $0.transfers })?.bytes ?? Self.defaultBuffer
    }

    /// The same for a transfer whose bandwidth may be limited: a buffer-load is what it takes at once, and it is not to
    /// be more than a second's worth, or a quarter where a hundred of them are taken. libcurl's smallest has 1 KiB.
    /// - Parameter rate: The most to receive, in bytes a second, where that is limited.
    func receiveBufferBytes(rate: Int?) -> Int {
        guard let rate else { return Self.defaultBuffer }
        return min(max(suffers(from: .limitedReceivingBursts) ? rate / 400 : rate, 1024), Self.defaultBuffer)
    }

    /// The buffers while few transfers run, with as many as have them.
    static let largeBuffers: [(transfers: Int, bytes: Int)] = [(16, 2 * largeBuffer), (fewTransfers, largeBuffer)]
    static let largeBuffer = 256 * 1024
    /// libcurl's own size.
    static let defaultBuffer = 16 * 1024
    /// Where libcurl answers challenges: it takes in the body of one without a callback that could stop it, up to a
    /// hundred buffer-loads in one call, which take twenty seconds a gigabyte in chunks of one byte. Its smallest.
    static let challengedBuffer = 1024
    /// So many may have more memory each.
    static let fewTransfers = 64
    /// libcurl's own buffers for so many are kept apart from what lives longer (``CurlMemory``).
    static let manyTransfers = 1024

    /// The buffer in bytes through which a body is sent (CURLOPT_UPLOAD_BUFFERSIZE): large while few transfers run, for
    /// one that does not fit into libcurl's own. From 8.7 on each handle keeps its buffer to its end.
    /// - Parameters:
    ///   - running: How many transfers run.
    ///   - body: The body's length, where it is known.
    func uploadBufferBytes(running: Int, body: Int?) -> Int {
        let isLarge = body.map { $0 > Self.defaultUploadBuffer } ?? true
        let mayBeLarge = !has(.sharedReceiveBuffer) && running <= Self.fewUploads
        return isLarge && mayBeLarge ? Self.largeUploadBuffer : Self.defaultUploadBuffer
    }

    /// libcurl's own size.
    static let defaultUploadBuffer = 64 * 1024
    /// With half of it nothing is gained.
    static let largeUploadBuffer = 1024 * 1024
    static let fewUploads = 16
}
