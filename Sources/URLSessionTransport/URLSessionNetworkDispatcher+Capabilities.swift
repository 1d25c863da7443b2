public import NetworkCore

extension URLSessionNetworkDispatcher {
    /// The transport's capabilities; those in which it lacks what the other one has, each with its reason.
    public var capabilities: TransportCapabilities {
        TransportCapabilities(
            transport: name,
            basis: Self.basis,
            supported: [.digestAuthentication, .awsSigV4],
            reasons: [
                .http1_0: "URLSession chooses the version",
                .http1_1: "URLSession chooses the version",
                .http2: "URLSession chooses the version",
                .http2PriorKnowledge: "URLSession chooses the version",
                .http3: "URLSession chooses the version",
                .bodyOnGet: "URLSession fails a GET with a body",
                .ipv6Literals: "URLSession fails URLs with an IPv6 address",
                .rawBodies: "URLSession always decompresses",
                .exactResponseFields: "URLSession joins repeated fields, re-cases names and loses the order",
                .lenientHeads: "FoundationNetworking refuses the whole response",
                .interimResponses: "URLSession does not report them",
                .requestTrailers: "URLSession can't send them",
                .trailers: "a response with trailers crashes the process",
                .streamedRequestBodies:
                    "a stream that has to be sent again ends as an empty body, or crashes the process",
                .wireLog: "URLSession does not show what it sends",
                .backPressure: "URLSession can't be stopped: a suspended task starts again and damages the body",
                .detailedMetrics: "FoundationNetworking measures nothing; total and first byte are our own",
            ].merging(Self.missingOptions.map { ($0, "FoundationNetworking has no such option") }) { own, _ in own },
            facts: [
                ("connections per host", "\(Self.maximumConnectionsPerOrigin)"),
                ("connect timeout", "approximate"),
                ("response header fields", "sorted by name, repeated ones joined"),
            ]
        )
    }

    private static let missingOptions: [TransportCapabilities.Capability] = [
        .firstByteTimeout, .tlsOptions, .tlsGroups, .tlsSignatureAlgorithms, .keepAliveProbes, .authoritiesInMemory,
        .clientCertificateInMemory, .proxyOptions, .httpsProxies,
        .connectionOptions, .unixSockets, .nameOptions, .rateOptions, .addressPolicy,
        .brotli, .zstd, .expectContinue,
    ]

    private static var basis: String {
        "FoundationNetworking over the system's libcurl"
    }
}
