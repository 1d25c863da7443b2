import NetworkCore

extension LibcurlSupport {
    /// The capabilities that depend on how libcurl was built.
    var builtIn: [(capability: TransportCapabilities.Capability, isBuiltIn: Bool)] {
        [
            (.http2, features.contains("HTTP2")),
            (.http2PriorKnowledge, features.contains("HTTP2")),
            (.http3, features.contains("HTTP3")),
            (.tlsOptions, features.contains("SSL")),
            (.clientCertificateInMemory, readsCertificatesFromMemory),
            (.httpsProxies, features.contains("HTTPS-proxy")),
            (.unixSockets, features.contains("UnixSockets")),
            (.brotli, BrotliDecoder.isAvailable),
            (.zstd, ZstdDecoder.isAvailable),
        ]
    }

    /// The capabilities that are refused where they have a fault, and the fault. HTTP/3 is among them because it falls
    /// back to HTTP/2.
    static let byFault: [(capability: TransportCapabilities.Capability, quirk: Quirk, fault: String)] =
        [.http2, .http2PriorKnowledge, .http3].map {
            ($0, .http2BodiesMix, "older ones mix up the bodies of HTTP/2 streams")
        }

    /// The capabilities of single options: the first libcurl that has the option, and whether it needs OpenSSL or a
    /// library like it. Others ignore these options.
    static let byOption: [(capability: TransportCapabilities.Capability, since: LibcurlVersion?, isOpenSSLs: Bool)] = [
        (.keepAliveProbes, LibcurlVersion(8, 9), false), (.tlsGroups, nil, true),
        (.tlsSignatureAlgorithms, LibcurlVersion(8, 14), true),
    ]

    private static let openSSLs = ["OpenSSL", "LibreSSL", "BoringSSL", "quictls", "AWS-LC"]

    /// Other TLS libraries silently ignore CURLOPT_SSLCERT_BLOB and continue without a certificate.
    private var readsCertificatesFromMemory: Bool { hasTLS(of: Self.openSSLs + ["mbedTLS"]) }

    /// Whether CURLOPT_SSL_CIPHER_LIST has an effect. With GnuTLS it is ignored below 8.10, and refused below 8.13.
    var takesCiphers: Bool { !hasTLS(of: ["GnuTLS"]) || version >= LibcurlVersion(8, 13) }

    private func hasTLS(of libraries: [String]) -> Bool { libraries.contains { tlsLibrary?.hasPrefix($0) == true } }
}

extension TransportCapabilities {
    /// Creates the capabilities of a libcurl.
    init(curl support: LibcurlSupport) {
        var supported: Set<Capability> = [
            .http1_0, .http1_1, .bodyOnGet, .streamedRequestBodies, .ipv6Literals, .rawBodies, .exactResponseFields,
            .lenientHeads, .trailers, .backPressure, .wireLog, .detailedMetrics, .firstByteTimeout, .proxyOptions,
            .connectionOptions, .nameOptions, .rateOptions, .addressPolicy, .digestAuthentication, .awsSigV4,
            .authoritiesInMemory, .requestTrailers, .interimResponses, .expectContinue,
        ]
        var reasons: [Capability: String] = [:]
        for (capability, obstacle) in support.obstacles where reasons[capability] == nil {
            reasons[capability] = obstacle
            if obstacle == nil { supported.insert(capability) } else { supported.remove(capability) }
        }
        let quirks = LibcurlSupport.Quirk.allCases.filter(support.suffers)
        self.init(
            transport: "curl",
            basis: "libcurl \(support.version) (\(support.tlsLibrary ?? "no TLS"))",
            supported: supported,
            reasons: reasons,
            facts: [
                ("features", support.features.sorted().joined(separator: " ")),
                ("protocols", support.protocols.joined(separator: " ")),
                ("HTTP/2 by default", support.obstacleToHTTP2.map { "no: \($0)" } ?? "yes"),
                ("authorities", support.ownAuthorities),
                ("known faults", quirks.map(\.rawValue).joined(separator: " ")),
            ]
        )
    }
}

extension LibcurlSupport {
    /// Why HTTP/2 is not negotiated unasked; `nil` where it is.
    var obstacleToHTTP2: String? {
        guard !http2ByDefault else { return nil }
        guard features.contains("HTTP2") else { return "this libcurl was built without it" }
        let mixes = suffers(from: .http2BodiesMix)
        let fault = mixes ? "mixes up the bodies of HTTP/2" : "may lose or hold up paused bodies of HTTP/2"
        return "this libcurl \(fault); from libcurl \(Quirk.http2ResumeStalls.fixedIn) on it is the default"
    }

    /// The authorities that it trusts where a request names none. Where it has both, the directory does not count.
    var ownAuthorities: String {
        defaultCAFile.map { "file \($0)" } ?? defaultCADirectory.map { "directory \($0)" } ?? "none built in"
    }

    /// The capabilities that not every libcurl has, each with the reason why this one lacks it; `nil` where it has it.
    fileprivate var obstacles: [(capability: TransportCapabilities.Capability, obstacle: String?)] {
        let builtIn = builtIn.map { ($0.capability, $0.isBuiltIn ? nil : "this libcurl was built without it") }
        let byOption = Self.byOption.map { option -> (TransportCapabilities.Capability, String?) in
            if let since = option.since, version < since { return (option.capability, "from libcurl \(since)") }
            let isMissing = option.isOpenSSLs && !hasTLS(of: Self.openSSLs)
            return (option.capability, isMissing ? "not with this TLS library" : nil)
        }
        let byFault = Self.byFault.map {
            ($0.capability, suffers(from: $0.quirk) ? "from libcurl \($0.quirk.fixedIn): \($0.fault)" : nil)
        }
        return builtIn + byOption + byFault
    }
}
