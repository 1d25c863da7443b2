import NetworkCore

/// The proxy (CURLOPT_PROXY and its kin). Past the environment's where the request must go straight to the server.
struct ProxyOption: EasyOption {
    let options: TransportOptions
    /// Whether the server speaks TLS, apart from the proxy.
    let isSecure: Bool
    var support = Libcurl.found

    func apply(to easy: EasyHandle) throws {
        switch options.proxy.choice {
        case .environment: if goesStraight { try easy.goStraight() }
        case .none: try easy.goStraight()
        case .explicit(let proxy): try set(proxy, on: easy)
        }
    }

    /// Whether a SOCKS proxy may be told the server's address, which is looked up when the proxy has been reached.
    static func takesAddresses(_ options: TransportOptions) -> Bool {
        guard options.hasRareOptions else { return NoProxyOption.mayTakeAddresses }
        return switch options.proxy.choice {
        case .none: false
        case .environment: NoProxyOption.mayTakeAddresses
        case .explicit(let proxy): takesAddresses(proxy.url)
        }
    }

    /// `socks` is another name of `socks4` for libcurl.
    static func takesAddresses(_ url: String) -> Bool {
        let scheme = url.prefix { $0 != ":" }.lowercased()
        return ["socks", "socks4", "socks5"].contains(scheme)
    }

    /// Whether a proxy may be asked for a tunnel.
    static func mayTunnel(_ options: TransportOptions) -> Bool {
        guard options.hasRareOptions else { return NoProxyOption.mayBeNamed }
        return switch options.proxy.choice {
        case .none: false
        case .environment: NoProxyOption.mayBeNamed
        case .explicit: true
        }
    }

    /// Whether the request goes by the environment's proxy, if there is one.
    static func usesEnvironments(_ options: TransportOptions) -> Bool {
        guard case .environment = options.proxy.choice else { return false }
        return !ProxyOption(options: options, isSecure: false).goesStraight
    }

    private var goesStraight: Bool {
        options.addressPolicy != .any || options.connection.unixSocket != nil || !options.names.addresses.isEmpty
    }

    private func set(_ proxy: TransportOptions.Proxy.Server, on easy: EasyHandle) throws {
        try easy.set(.proxy, proxy.url)
        // Set also when it is empty: it takes the place of the environment's.
        try easy.set(.noProxy, proxy.noProxy.joined(separator: ","))
        if let user = proxy.user {
            // They are decoded once more for each round.
            let isDecodedAgain = proxy.scheme != .basic && support.suffers(from: .proxyCredentialsAreDecoded)
            if isDecodedAgain, user.contains("%") || proxy.password?.value.contains("%") == true {
                throw NetworkError.percentInCredentials
            }
            try easy.set(.proxyUser, encoded(user))
            try easy.set(.proxyPassword, encoded(proxy.password?.value ?? ""))
        }
        switch proxy.scheme {
        case .basic: try easy.set(.proxyAuth, OptionValue.basic)
        case .digest: try easy.set(.proxyAuth, OptionValue.digest)
        case .anySafe: try easy.set(.proxyAuth, OptionValue.anySafeAuth)
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

    /// As libcurl takes it: older ones decode escapes, so that `%0A` would be a line break and `%3A` a colon.
    private func encoded(_ text: String) -> String {
        support.suffers(from: .proxyCredentialsAreDecoded) ? text.replacing("%", with: "%25") : text
    }

    private func setTLS(_ proxy: TransportOptions.Proxy.Server, on easy: EasyHandle) throws {
        try easy.set(.proxyTLSVersion, OptionValue.tls1_2)
        try easy.sharesNoConnection()
        switch proxy.authorities {
        case .system: break
        case .file(let path):
            try easy.set(.proxyCAFile, path)
            try easy.set(.proxyCADirectory, nil)
        case .directory(let path):
            try easy.set(.proxyCAFile, nil)
            try easy.set(.proxyCADirectory, path)
        case .bytes(let bytes):
            try easy.set(.proxyCAFile, nil)
            try easy.set(.proxyCADirectory, nil)
            try easy.set(.proxyAuthorities, bytes)
        }
    }
}

extension NetworkError {
    fileprivate static var percentInCredentials: NetworkError {
        NetworkError(
            .unsupported,
            "with this proxy.scheme, this libcurl takes no percent sign in proxy.user and proxy.password (from 8.8)",
            phase: .preparing)
    }
}

extension EasyHandle {
    /// Through a proxy that speaks TLS, a connection carries one request (CURLOPT_FRESH_CONNECT, FORBID_REUSE).
    ///
    /// What the server sends after its response waits in the proxy's TLS session, where nothing can be asked for it:
    /// libcurl names the server's alone. And for a server in clear, libcurl (seen with 7.88) takes a kept connection
    /// whatever authority the proxy's certificate was checked against.
    func sharesNoConnection() throws {
        try takeOwnConnection()
        try set(.forbidReuse, 1)
    }

    /// Past any proxy (CURLOPT_PROXY, CURLOPT_NOPROXY, both empty). The second only keeps libcurl from asking the
    /// environment for the hosts that need none.
    func goStraight() throws {
        try set(.proxy, "")
        try set(.noProxy, "")
    }
}
