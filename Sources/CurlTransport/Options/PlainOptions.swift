public import NetworkCore

/// The options of libcurl that take a plain value and need no code of their own. All that the library, its tests, the
/// table of capabilities, `curlCommand` and the tool know of one is its declaration here: a new one is a member of
/// ``all`` and a key below.
package enum PlainOptions {
    static let all: [any PlainOption] = [keepAliveProbes, happyEyeballsDelay, tlsGroups, tlsSignatureAlgorithms]

    /// The flags of all plain options.
    package static var flags: [PlainFlag] { all.map(\.flag) }

    fileprivate static let keepAliveProbes = PlainDeclaration(
        "keepAliveProbes", .long(326, "CURLOPT_TCP_KEEPCNT"), since: LibcurlVersion(8, 9),
        also: [(.tcpKeepAlive, 1)],
        flag: PlainFlag("keepalive-cnt", valueName: "number", help: "How many TCP keep-alive probes may be lost."),
        .number(1...127))

    fileprivate static let happyEyeballsDelay = PlainDeclaration(
        "happyEyeballsDelay", .long(271, "CURLOPT_HAPPY_EYEBALLS_TIMEOUT_MS"), since: LibcurlVersion(7, 59),
        flag: PlainFlag(
            "happy-eyeballs-timeout-ms", valueName: "milliseconds",
            help: "The time before IPv4 is tried besides IPv6. (default: 200)"),
        .milliseconds(1...60_000))

    fileprivate static let tlsGroups = PlainDeclaration(
        "tlsGroups", .text(298, "CURLOPT_SSL_EC_CURVES"), since: LibcurlVersion(7, 73), isOpenSSLs: true,
        flag: PlainFlag("curves", valueName: "list", help: "The groups of the TLS key exchange, 'X25519:P-256'."),
        .list)

    fileprivate static let tlsSignatureAlgorithms = PlainDeclaration(
        "tlsSignatureAlgorithms", .text(328, "CURLOPT_SSL_SIGNATURE_ALGORITHMS"), since: LibcurlVersion(8, 14),
        // libcurl 8.14 finds sessions whatever algorithms made them.
        isOpenSSLs: true, also: [(.tlsSessionCache, 0)],
        flag: PlainFlag("sigalgs", valueName: "list", help: "The TLS signature algorithms, 'ed25519:RSA-PSS+SHA256'."),
        .list)
}

extension TransportOptions.Key<Int> {
    /// The number of unacknowledged keep-alive probes after which a connection is closed, from 1 to 127. Probes have
    /// the times of ``TransportOptions/Connection/keepAlive``, or 60 s. Requires libcurl 8.9. Default: the system's
    /// number. [CURLOPT_TCP_KEEPCNT](https://curl.se/libcurl/c/CURLOPT_TCP_KEEPCNT.html)
    public static var keepAliveProbes: Self { PlainOptions.keepAliveProbes.key }
}

extension TransportOptions.Key<Duration> {
    /// The time for which the connection over the first address family is tried alone, in whole milliseconds from 1 ms
    /// to 60 s; then the other family is tried as well
    /// ([RFC 8305](https://www.rfc-editor.org/rfc/rfc8305)). Default: 200 ms.
    /// [CURLOPT_HAPPY_EYEBALLS_TIMEOUT_MS](https://curl.se/libcurl/c/CURLOPT_HAPPY_EYEBALLS_TIMEOUT_MS.html)
    public static var happyEyeballsDelay: Self { PlainOptions.happyEyeballsDelay.key }
}

extension TransportOptions.Key<String> {
    /// The groups of the TLS key exchange in order of preference, separated by colons, such as
    /// `X25519MLKEM768:X25519:P-256`. A group that the TLS library does not know fails the exchange. Requires a libcurl
    /// with OpenSSL or a library like it. Default: the TLS library's groups.
    /// [CURLOPT_SSL_EC_CURVES](https://curl.se/libcurl/c/CURLOPT_SSL_EC_CURVES.html)
    public static var tlsGroups: Self { PlainOptions.tlsGroups.key }

    /// The signature algorithms of TLS in order of preference, separated by colons, such as `ed25519:RSA-PSS+SHA256`.
    /// Such a request resumes no TLS session. Requires libcurl 8.14 with OpenSSL or a library like it. Default: the TLS
    /// library's algorithms.
    /// [CURLOPT_SSL_SIGNATURE_ALGORITHMS](https://curl.se/libcurl/c/CURLOPT_SSL_SIGNATURE_ALGORITHMS.html)
    public static var tlsSignatureAlgorithms: Self { PlainOptions.tlsSignatureAlgorithms.key }
}
