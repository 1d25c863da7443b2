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

    /// The capabilities that came with a version.
    static let byVersion: [(capability: TransportCapabilities.Capability, feature: Feature)] = [
        (.authoritiesInMemory, .authoritiesInMemory)
    ]

    /// The capabilities that are refused where they have a fault, and the fault. HTTP/3 is among them because it falls
    /// back to HTTP/2.
    static let byFault: [(capability: TransportCapabilities.Capability, quirk: Quirk, fault: String)] =
        [.http2, .http2PriorKnowledge, .http3].map {
            ($0, .http2BodiesMix, "older ones mix up the bodies of HTTP/2 streams")
        }

    func has(_ option: any PlainOption) -> Bool {
        version >= option.since && (!option.isOpenSSLs || hasTLS(of: Self.openSSLs))
    }

    private static let openSSLs = ["OpenSSL", "LibreSSL", "BoringSSL", "quictls", "AWS-LC"]

    /// Other TLS libraries silently ignore CURLOPT_SSLCERT_BLOB and continue without a certificate.
    private var readsCertificatesFromMemory: Bool { hasTLS(of: Self.openSSLs + ["mbedTLS"]) }

    private func hasTLS(of libraries: [String]) -> Bool { libraries.contains { tlsLibrary?.hasPrefix($0) == true } }
}
