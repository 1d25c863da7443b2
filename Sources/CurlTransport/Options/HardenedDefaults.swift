/// A setting of one transfer, as a value that applies itself. Each further libcurl option is one more such value.
protocol EasyOption {
    /// Applies the setting to a handle that was reset and is not in a multi handle.
    /// - Throws: ``NetworkError/Code/unsupported`` for a setting that this libcurl does not know.
    func apply(to easy: EasyHandle) throws
}

/// The settings of every transfer, whatever the request's options: libcurl's conveniences for a command line are risks
/// for a service.
///
/// http and https only (CURLOPT_PROTOCOLS), no redirects, TLS 1.2 and later with full verification, no HTTP/0.9, no
/// netrc, no authentication to servers, no signals, and the proxy's header fields separate from the server's.
struct HardenedDefaults: EasyOption {
    let support: LibcurlSupport

    /// How long a kept connection may be idle, in seconds (CURLOPT_MAXAGE_CONN). Servers close theirs after 60 to 75 s.
    static let maximumConnectionIdle = 50
    /// How old a connection may become, in seconds (CURLOPT_MAXLIFETIME_CONN), so that a DNS change takes effect.
    static let maximumConnectionLife = 1800

    func apply(to easy: EasyHandle) throws {
        try easy.set(.noSignal, 1)
        try easy.set(.noProgress, 1)
        try easy.boundTLSRecords()
        try easy.set(.quickExit, 1)
        // By number: libcurl would parse the names (CURLOPT_PROTOCOLS_STR) again for each request.
        try easy.set(.protocols, OptionValue.httpProtocols)
        try easy.set(.redirectProtocols, OptionValue.httpProtocols)
        try easy.set(.followLocation, 0)
        try easy.set(.pathAsIs, 1)
        try easy.set(.verifyPeer, 1)
        try easy.set(.verifyHost, 2)
        try easy.set(.unrestrictedAuth, 0)
        try easy.set(.http09Allowed, 0)
        try easy.set(.httpAuth, OptionValue.noAuth)
        // For the credentials that a proxy variable in the environment has before its '@'.
        try easy.set(.proxyAuth, OptionValue.basic)
        // By default SOCKS5 allows Kerberos too: with the process's ticket, blocking the loop's thread until the proxy
        // has responded, and with a context that all threads share.
        try easy.set(.socks5Auth, OptionValue.basic)
        try easy.set(.netrc, OptionValue.netrcIgnored)
        try easy.set(.headerOptions, OptionValue.separateHeaders)
        try easy.set(.suppressConnectHeaders, 1)
        try easy.set(.maxConnectionIdle, Self.maximumConnectionIdle)
        try easy.set(.maxConnectionLife, Self.maximumConnectionLife)
        // With a directory of certificates, OpenSSL builds parse all of them again for each new connection. The file
        // has the same certificates.
        if support.defaultCAFile != nil { try easy.set(.caDirectory, nil) }
    }
}
