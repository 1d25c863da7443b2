import NetworkCore

/// The proxy (CURLOPT_PROXY and related options), or a direct connection where the request must go straight to the
/// server.
struct ProxyOption: EasyOption {
    let request: TransportRequest
    var support = Libcurl.found
    private var options: TransportOptions { request.options }

    /// Whether the library itself responds to the proxy's challenge.
    private func respondsToChallenge(of proxy: TransportOptions.Proxy.Server) -> Bool {
        proxy.respondsToChallenge(of: request)
    }

    func apply(to easy: EasyHandle) throws {
        switch options.proxy {
        // NoProxyOption has decided on the environment's.
        case .environment: if options.bypassesEnvironmentsProxy { try easy.goStraight() }
        case .none: try easy.goStraight()
        case .explicit(let proxy) where proxy.isPassed(by: request.url): try easy.goStraight()
        case .explicit(let proxy):
            try set(proxy, on: easy)
            try easy.haveNoExceptions()
        }
    }

    /// Returns whether a SOCKS proxy may get the server's address, which is looked up after the connection to the proxy
    /// is open.
    static func takesAddresses(_ options: TransportOptions) -> Bool {
        guard options.hasRareOptions else { return NoProxyOption.mayTakeAddresses }
        return switch options.proxy {
        case .none: false
        case .environment: NoProxyOption.mayTakeAddresses
        case .explicit(let proxy): takesAddresses(proxy.url)
        }
    }

    /// For libcurl, `socks` is another name of `socks4`.
    static func takesAddresses(_ url: String) -> Bool {
        let scheme = url.prefix { $0 != ":" }.lowercased()
        return ["socks", "socks4", "socks5"].contains(scheme)
    }

    /// Returns whether the request may open a proxy tunnel.
    static func mayTunnel(_ options: TransportOptions) -> Bool {
        guard options.hasRareOptions else { return NoProxyOption.mayBeNamed }
        return switch options.proxy {
        case .none: false
        case .environment: NoProxyOption.mayBeNamed
        case .explicit: true
        }
    }

    /// Returns whether the proxy of an `http` URL may speak TLS.
    static func maySpeakTLS(_ options: TransportOptions) -> Bool {
        guard options.hasRareOptions else { return NoProxyOption.mayBeHTTPS(isSecure: false) }
        return switch options.proxy {
        case .none: false
        case .environment: NoProxyOption.mayBeHTTPS(isSecure: false)
        case .explicit(let proxy): proxy.isHTTPS
        }
    }

    /// Returns whether the request uses the environment's proxy, if there is one.
    static func usesEnvironments(_ options: TransportOptions) -> Bool {
        guard case .environment = options.proxy else { return false }
        return !options.bypassesEnvironmentsProxy
    }

    private func set(_ proxy: TransportOptions.Proxy.Server, on easy: EasyHandle) throws {
        try easy.set(.proxy, proxy.url)
        if let user = proxy.user, !respondsToChallenge(of: proxy) {
            // libcurl decodes them once more for each round.
            let isDecodedAgain =
                proxy.authenticationScheme != .basic && support.suffers(from: .proxyCredentialsAreDecoded)
            if isDecodedAgain, user.contains("%") || proxy.password?.value.contains("%") == true {
                throw NetworkError.percentInCredentials
            }
            try easy.set(.proxyUser, encoded(user))
            try easy.set(.proxyPassword, encoded(proxy.password?.value ?? ""))
        }
        switch respondsToChallenge(of: proxy) ? nil : proxy.authenticationScheme {
        case nil: try easy.set(.proxyAuth, OptionValue.noAuth)
        case .basic: try easy.set(.proxyAuth, OptionValue.basic)
        // CURLAUTH_ANYSAFE includes NTLM, whose response to a proxy's challenge gives the password away.
        case .digest, .anySafe: try easy.set(.proxyAuth, OptionValue.digest)
        }
        if proxy.tunnel { try easy.set(.proxyTunnel, 1) }
        if !proxy.headerFields.isEmpty {
            var lines = TextList()
            for field in proxy.headerFields {
                // `Name:` would send nothing; `Name;` sends it empty.
                let isEmpty = field.value.allSatisfy { $0 == " " || $0 == "\t" }
                lines.append(field.name.rawName, isEmpty ? ";" : ": ", isEmpty ? "" : field.value)
            }
            try easy.set(.proxyHeaderLines, lines)
        }
        if proxy.isHTTPS { try setTLS(proxy, on: easy) }
    }

    /// Returns a text as libcurl expects it: older versions decode escapes, so that `%0A` would be a line break and
    /// `%3A` a colon.
    private func encoded(_ text: String) -> String {
        support.suffers(from: .proxyCredentialsAreDecoded) ? text.replacing(ascii: [UInt8(ascii: "%"): "%25"]) : text
    }

    private func setTLS(_ proxy: TransportOptions.Proxy.Server, on easy: EasyHandle) throws {
        try easy.set(.proxyTLSVersion, OptionValue.tls1_2)
        try easy.sharesNoConnection()
        guard let places = try TrustedPlaces(proxy.authorities, support: support) else { return }
        try easy.set(.proxyCAFile, places.file)
        try easy.set(.proxyCADirectory, places.directory)
        if let bytes = places.bytes { try easy.set(.proxyAuthorities, bytes) }
    }
}

extension NetworkError {
    fileprivate static var percentInCredentials: NetworkError {
        NetworkError(
            .unsupported,
            "with this proxy.authenticationScheme, proxy.user and proxy.password can't contain a percent sign before "
                + "libcurl 8.8",
            phase: .preparing)
    }
}

extension EasyHandle {
    /// Gives a request through a proxy that speaks TLS a connection of its own (CURLOPT_FRESH_CONNECT, FORBID_REUSE):
    /// what a server sends after its response waits in the proxy's TLS session, which nothing can query.
    func sharesNoConnection() throws {
        try set(.freshConnect, 1)
        try set(.forbidReuse, 1)
    }

    /// Bypasses any proxy (CURLOPT_PROXY, empty).
    func goStraight() throws {
        try set(.proxy, "")
        try haveNoExceptions()
    }

    /// Keeps libcurl from reading the hosts without a proxy from the environment (CURLOPT_NOPROXY, empty).
    /// ``ProxyExceptions`` has decided.
    func haveNoExceptions() throws { try set(.noProxy, "") }
}
