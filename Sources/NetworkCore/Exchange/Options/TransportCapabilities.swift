extension TransportCapabilities {
    /// Something that not every transport can do. Open: a transport may add its own.
    public struct Capability: RawRepresentable, Hashable, Sendable {
        /// The name, as tables and errors print it.
        public let rawValue: String

        /// A capability by its name.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// HTTP/1.0 on request.
        public static let http1_0 = Self(rawValue: "HTTP/1.0")
        /// HTTP/1.1 on request, and nothing newer.
        public static let http1_1 = Self(rawValue: "HTTP/1.1 only")
        /// HTTP/2 on request.
        public static let http2 = Self(rawValue: "HTTP/2")
        /// HTTP/2 on request without asking the server, also in clear (h2c).
        public static let http2PriorKnowledge = Self(rawValue: "HTTP/2 by prior knowledge")
        /// HTTP/3 on request.
        public static let http3 = Self(rawValue: "HTTP/3")
        /// A body on GET.
        public static let bodyOnGet = Self(rawValue: "body on GET")
        /// Request bodies that are read while they are sent: files, sequences.
        public static let streamedRequestBodies = Self(rawValue: "streamed request bodies")
        /// `http://[::1]/`.
        public static let ipv6Literals = Self(rawValue: "IPv6 literals")
        /// Responses as they were on the wire, not decompressed.
        public static let rawBodies = Self(rawValue: "raw (undecoded) bodies")
        /// Response header fields in the order and the case in which they arrived, repeated ones apart.
        public static let exactResponseFields = Self(rawValue: "exact response header fields")
        /// Header lines that are not UTF-8 or have no space after the colon, status lines without a reason.
        public static let lenientHeads = Self(rawValue: "lenient response heads")
        /// Responses with trailers.
        public static let trailers = Self(rawValue: "trailers")
        /// A reader that is slower than the server stops the server.
        public static let backPressure = Self(rawValue: "back-pressure")
        /// A log of what goes over the wire.
        public static let wireLog = Self(rawValue: "wire log")
        /// Times of each step, addresses, connection reuse.
        public static let detailedMetrics = Self(rawValue: "detailed metrics")

        /// ``TransportOptions/firstByteTimeout``.
        public static let firstByteTimeout = Self(rawValue: "first byte timeout")
        /// ``TransportOptions/tls``: authorities, client certificate, pinned keys, versions, ciphers, server name.
        public static let tlsOptions = Self(rawValue: "TLS options")
        /// ``TransportOptions/TLS/Authorities/bytes(_:)``.
        public static let authoritiesInMemory = Self(rawValue: "certificate authorities in memory")
        /// ``TransportOptions/TLS/Source/bytes(_:)``.
        public static let clientCertificateInMemory = Self(rawValue: "client certificates in memory")
        /// ``TransportOptions/proxy``: another choice than the environment's.
        public static let proxyOptions = Self(rawValue: "proxy options")
        /// Proxies that speak TLS themselves.
        public static let httpsProxies = Self(rawValue: "HTTPS proxies")
        /// ``TransportOptions/connection``: fresh ones, local addresses, IP versions, probes.
        public static let connectionOptions = Self(rawValue: "connection options")
        /// ``TransportOptions/Connection/unixSocket``.
        public static let unixSockets = Self(rawValue: "Unix sockets")
        /// ``TransportOptions/Connection/KeepAlive/probes``.
        public static let keepAliveProbes = Self(rawValue: "count of keep-alive probes")
        /// ``TransportOptions/names``: static addresses, connect-to, cache time, DNS over HTTPS.
        public static let nameOptions = Self(rawValue: "name options")
        /// ``TransportOptions/rate``: bandwidth limits, low speed.
        public static let rateOptions = Self(rawValue: "rate options")
        /// ``TransportOptions/addressPolicy``.
        public static let addressPolicy = Self(rawValue: "address policy")
        /// ``TransportOptions/Authentication/digest(user:password:)``,
        /// ``TransportOptions/Authentication/anySafe(user:password:)``.
        public static let digestAuthentication = Self(rawValue: "Digest authentication")
        /// ``TransportOptions/Authentication/ntlm(user:password:)``.
        public static let ntlmAuthentication = Self(rawValue: "NTLM authentication")
        /// ``TransportOptions/Authentication/negotiate``.
        public static let negotiateAuthentication = Self(rawValue: "Negotiate authentication")
        /// ``TransportOptions/Authentication/awsSigV4(_:)``.
        public static let awsSigV4 = Self(rawValue: "AWS SigV4")
        /// ``TransportOptions/ContentEncoding/brotli``.
        public static let brotli = Self(rawValue: "Brotli")
        /// ``TransportOptions/ContentEncoding/zstd``.
        public static let zstd = Self(rawValue: "Zstandard")

        /// The ones above, for tables.
        public static let wellKnown: [Capability] = [
            .http1_0, .http1_1, .http2, .http2PriorKnowledge, .http3, .bodyOnGet, .streamedRequestBodies, .ipv6Literals,
            .rawBodies, .exactResponseFields,
            .lenientHeads, .trailers, .backPressure, .wireLog, .detailedMetrics, .firstByteTimeout, .tlsOptions,
            .authoritiesInMemory, .clientCertificateInMemory, .proxyOptions, .httpsProxies, .connectionOptions,
            .unixSockets, .keepAliveProbes, .nameOptions, .rateOptions, .addressPolicy, .digestAuthentication,
            .ntlmAuthentication, .negotiateAuthentication, .awsSigV4, .brotli, .zstd,
        ]
    }
}

/// What a transport can do on this machine.
public struct TransportCapabilities: Sendable {
    /// The transport's name.
    public var transport: String
    /// What it stands on: `libcurl 7.88.1 (OpenSSL 3.0.17)`.
    public var basis: String
    /// What it can do.
    public var supported: Set<Capability>
    /// Why it can't do the rest, where there is more to say than 'no'.
    public var reasons: [Capability: String]
    /// More facts for a person, in order: name and value.
    public var facts: [(name: String, value: String)]

    /// States a transport's capabilities.
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

    /// Whether it can do that.
    public func supports(_ capability: Capability) -> Bool { supported.contains(capability) }

    /// The error for asking what it can't do.
    public func refusal(of capability: Capability) -> NetworkError {
        let reason = reasons[capability].map { " (\($0))" } ?? ""
        return NetworkError(
            .unsupported,
            "\(capability.rawValue) is not supported by the \(transport) transport\(reason)",
            phase: .preparing
        )
    }
}
