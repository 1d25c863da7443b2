extension TransportCapabilities {
    /// A feature that not every transport supports. The set is open: a transport may define its own.
    public struct Capability: RawRepresentable, Hashable, Sendable {
        /// The feature's name, as tables and errors print it.
        public let rawValue: String

        /// Creates a capability from its name.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// HTTP/1.0 where the options select it.
        public static let http1_0 = Self(rawValue: "HTTP/1.0")
        /// HTTP/1.1 and nothing newer where the options select it.
        public static let http1_1 = Self(rawValue: "HTTP/1.1 only")
        /// HTTP/2 where the options select it.
        public static let http2 = Self(rawValue: "HTTP/2")
        /// HTTP/2 without negotiation where the options select it, also in the clear (h2c).
        public static let http2PriorKnowledge = Self(rawValue: "HTTP/2 by prior knowledge")
        /// HTTP/3 where the options select it.
        public static let http3 = Self(rawValue: "HTTP/3")
        /// A body with GET.
        public static let bodyOnGet = Self(rawValue: "body on GET")
        /// Request bodies that are read while they are sent, such as files and sequences.
        public static let streamedRequestBodies = Self(rawValue: "streamed request bodies")
        /// IPv6 addresses in URLs: `http://[::1]/`.
        public static let ipv6Literals = Self(rawValue: "IPv6 literals")
        /// Response bodies as they were on the wire, without decompression.
        public static let rawBodies = Self(rawValue: "raw (undecoded) bodies")
        /// Response fields in the order and letter case in which they arrived, with repeated fields kept separate.
        public static let exactResponseFields = Self(rawValue: "exact response header fields")
        /// Field lines that are not UTF-8 or have no space after the colon, and status lines without a reason phrase.
        public static let lenientHeads = Self(rawValue: "lenient response heads")
        /// Trailer fields of responses.
        public static let trailers = Self(rawValue: "trailers")
        /// A reader that is slower than the server pauses the server.
        public static let backPressure = Self(rawValue: "back-pressure")
        /// A log of the traffic on the wire.
        public static let wireLog = Self(rawValue: "wire log")
        /// The time of each step, addresses and connection reuse.
        public static let detailedMetrics = Self(rawValue: "detailed metrics")

        /// The timeout ``TransportOptions/firstByteTimeout``.
        public static let firstByteTimeout = Self(rawValue: "first byte timeout")
        /// The options in ``TransportOptions/tls``: authorities, client certificate, pinned keys, versions, ciphers,
        /// server name.
        public static let tlsOptions = Self(rawValue: "TLS options")
        /// Groups of the key exchange: ``TransportOptions/TLS/groups``.
        public static let tlsGroups = Self(rawValue: "TLS groups")
        /// Signature algorithms of TLS: ``TransportOptions/TLS/signatureAlgorithms``.
        public static let tlsSignatureAlgorithms = Self(rawValue: "TLS signature algorithms")
        /// Certificate authorities in memory: ``TransportOptions/TLS/Authorities/bytes(_:)``.
        public static let authoritiesInMemory = Self(rawValue: "certificate authorities in memory")
        /// Client certificates in memory: ``TransportOptions/TLS/Source/bytes(_:)``.
        public static let clientCertificateInMemory = Self(rawValue: "client certificates in memory")
        /// The options in ``TransportOptions/proxy``: any choice other than the environment's.
        public static let proxyOptions = Self(rawValue: "proxy options")
        /// Proxies that are reached over TLS.
        public static let httpsProxies = Self(rawValue: "HTTPS proxies")
        /// The options in ``TransportOptions/connection``: new connections, local addresses, IP versions, probes.
        public static let connectionOptions = Self(rawValue: "connection options")
        /// A number of keep-alive probes: ``TransportOptions/Connection/KeepAlive/probes``.
        public static let keepAliveProbes = Self(rawValue: "number of keep-alive probes")
        /// Unix sockets: ``TransportOptions/Connection/unixSocket``.
        public static let unixSockets = Self(rawValue: "Unix sockets")
        /// The options in ``TransportOptions/names``: static addresses, connect-to rules, cache time, DNS over HTTPS.
        public static let nameOptions = Self(rawValue: "name options")
        /// The options in ``TransportOptions/rate``: speed limits, minimum speed.
        public static let rateOptions = Self(rawValue: "rate options")
        /// Address policies: ``TransportOptions/addressPolicy``.
        public static let addressPolicy = Self(rawValue: "address policy")
        /// Digest authentication: ``TransportOptions/Authentication/digest(user:password:)``,
        /// ``TransportOptions/Authentication/anySafe(user:password:)``.
        public static let digestAuthentication = Self(rawValue: "Digest authentication")
        /// AWS Signature Version 4: ``TransportOptions/Authentication/awsSigV4(_:)``.
        public static let awsSigV4 = Self(rawValue: "AWS SigV4")
        /// Trailer fields after a request's body: ``TransportRequest/Body/followed(byTrailers:)``.
        public static let requestTrailers = Self(rawValue: "request trailers")
        /// Interim responses: ``TransportRequest/interimResponse``. Nothing requires it: without it, none are reported.
        public static let interimResponses = Self(rawValue: "interim responses")
        /// A wait for the server's 100: ``TransportOptions/expectContinue``.
        public static let expectContinue = Self(rawValue: "expectations")
        /// Brotli: ``TransportOptions/ContentEncoding/brotli``.
        public static let brotli = Self(rawValue: "Brotli")
        /// Zstandard: ``TransportOptions/ContentEncoding/zstd``.
        public static let zstd = Self(rawValue: "Zstandard")

        /// All capabilities above, for tables.
        public static let wellKnown: [Capability] = [
            .http1_0, .http1_1, .http2, .http2PriorKnowledge, .http3, .bodyOnGet, .streamedRequestBodies, .ipv6Literals,
            .rawBodies, .exactResponseFields, .lenientHeads, .trailers, .backPressure, .wireLog, .detailedMetrics,
            .firstByteTimeout, .tlsOptions, .tlsGroups, .tlsSignatureAlgorithms, .authoritiesInMemory,
            .clientCertificateInMemory, .proxyOptions, .httpsProxies, .connectionOptions, .keepAliveProbes,
            .unixSockets, .nameOptions, .rateOptions, .addressPolicy, .digestAuthentication, .awsSigV4, .brotli, .zstd,
            .requestTrailers, .interimResponses, .expectContinue,
        ]
    }
}

/// The features that a transport supports on this machine.
public struct TransportCapabilities: Sendable {
    /// The name of the transport.
    public var transport: String
    /// The library below the transport, with its version: `libcurl 7.88.1 (OpenSSL 3.0.17)`.
    public var basis: String
    /// The supported features.
    public var supported: Set<Capability>
    /// The reasons for missing features, where one is known.
    public var reasons: [Capability: String]
    /// Further facts for display, in order: name and value.
    public var facts: [(name: String, value: String)]

    /// Creates a description of a transport's capabilities.
    public init(
        transport: String,
        basis: String,
        supported: Set<Capability>,
        reasons: [Capability: String] = [:],
        facts: [(name: String, value: String)] = []
    ) {
        self.transport = transport
        self.basis = basis
        self.supported = supported
        self.reasons = reasons
        self.facts = facts
    }

    /// Returns whether the transport supports a feature.
    public func supports(_ capability: Capability) -> Bool { supported.contains(capability) }

    /// Returns the ``NetworkError/Code/unsupported`` error for a request that requires a missing feature.
    public func refusal(of capability: Capability) -> NetworkError {
        let reason = reasons[capability].map { " (\($0))" } ?? ""
        return NetworkError.refused(
            .unsupported, "the \(transport) transport does not support \(capability.rawValue)\(reason)")
    }
}

/// A type that carries *one* HTTP exchange: a request goes out, its response comes back. Redirects, cookies, retries,
/// validation and decoding belong to the pipeline (``NetworkClient``), so that every transport behaves alike.
///
/// To write a transport, implement ``name``, ``capabilities`` and ``send(_:)``. In `send`, call
/// ``TransportRequest/check(for:)`` first, send ``TransportRequest/wireFields`` and ``TransportRequest/wireBody()``,
/// apply the four timeouts, and throw ``NetworkError``, or the error of the request's body unchanged. The pipeline
/// carries out Digest and AWS signatures over every transport that lists
/// ``TransportCapabilities/Capability/digestAuthentication`` and ``TransportCapabilities/Capability/awsSigV4``.
///
/// A transport that also conforms to ``NetworkDispatcher``, which needs no code, can be passed wherever a dispatcher is
/// taken: `GetUsers().send(over: transport)`.
public protocol HTTPTransport: Sendable {
    /// A short name for errors and reports: `curl`, `urlsession`.
    var name: String { get }

    /// What the transport can do on this system, as found at run time.
    var capabilities: TransportCapabilities { get }

    /// Sends one request and returns its response, whatever the status: a 404 is a response, and so is a 302.
    ///
    /// Cancelling the task ends the exchange and throws ``NetworkError/Code/cancelled`` at once.
    /// - Throws: ``NetworkError``, once for each failure.
    func send(_ request: TransportRequest) async throws -> TransportResponse
}

/// A transport that can be ended in order.
public protocol ShutsDown: HTTPTransport {
    /// Refuses new requests with ``NetworkError/Code/shutDown``, lets running ones end, and fails with the same code
    /// what has not ended in time. Returns when nothing is left.
    /// - Parameter patience: The time that running requests may still take; `.zero` ends them at once.
    func shutDown(within patience: Duration) async
    /// The time that a service gives running requests at its end. Default: 30 s.
    var shutdownPatience: Duration { get }
}

extension ShutsDown {
    /// 30 s.
    public var shutdownPatience: Duration { .seconds(30) }
}
