import NetworkCore

/// The resolver's options (CURLOPT_DNS_CACHE_TIMEOUT, DOH_URL).
struct NameOption: EasyOption {
    let all: TransportOptions
    /// Whether the addresses to connect to are pinned.
    let isPinned: Bool
    let support: LibcurlSupport
    private var options: TransportOptions.Names { all.names }

    /// Refuses DNS over HTTPS where libcurl would use the environment's proxy for it against the request's own options,
    /// and where libcurl would write the lookups to standard error: it does with its log on, which tunnels need there.
    static func check(_ options: TransportOptions, environmentNamesProxy: Bool, support: LibcurlSupport) throws {
        guard options.names.dnsOverHTTPS != nil else { return }
        if support.suffers(from: .refusalInChunksOpensTunnel), ProxyOption.mayTunnel(options) {
            throw NetworkError(
                .unsupported,
                "names.dnsOverHTTPS next to a proxy needs libcurl 7.75: with older ones the lookups would be written "
                    + "to standard error", phase: .preparing)
        }
        guard environmentNamesProxy, !ProxyOption.usesEnvironments(options) else { return }
        throw NetworkError(
            .unsupported,
            "libcurl looks up names over HTTPS (names.dnsOverHTTPS) via the proxy that https_proxy or all_proxy names, "
                + "which this request must not use: unset it, or let the request use that proxy (proxy: .environment)",
            phase: .preparing)
    }

    func apply(to easy: EasyHandle) throws {
        try Self.check(all, environmentNamesProxy: NoProxyOption.mayBeNamedForHTTPS, support: support)
        // Without a cache, libcurl would not find pinned addresses.
        if options.cacheTime != TransportOptions.Names().cacheTime, !isPinned {
            try easy.set(.dnsCacheTimeout, options.cacheTime.wholeSeconds)
        }
        if let url = options.dnsOverHTTPS { try easy.set(.dnsOverHTTPS, url) }
    }
}

/// The destination of the connection when the URL does not give it (CURLOPT_CONNECT_TO, CURLOPT_RESOLVE).
///
/// With pinned addresses the request connects to their ``PinnedName``. That also keeps connections apart, since libcurl
/// identifies them by their destination.
struct RouteOption: EasyOption {
    let request: TransportRequest
    let support: LibcurlSupport
    private var url: RequestURL { request.url }
    private var names: TransportOptions.Names { request.options.names }
    private var ipVersion: TransportOptions.Connection.IPVersion { request.options.connection.ipVersion }

    func apply(to easy: EasyHandle) throws {
        let (named, port, pinned) = try target()
        let host = pinned.map(PinnedName.name) ?? named
        if let pinned {
            let sign = support.has(.agingResolveEntries) ? "+" : ""
            let addresses = pinned.map(\.bracketed).joined(separator: ",")
            try easy.set(.resolve, TextList(["\(sign)\(host):\(port):\(addresses)"]))
        }
        let serverName = request.options.tls.serverName
        if let serverName {
            let query = url.query.map { "?\($0)" } ?? ""
            let target = "\(url.scheme)://\(serverName.bracketed):\(url.effectivePort)\(url.path)\(query)"
            try easy.set(.url, target)
        }
        if serverName != nil || host != url.host || port != url.effectivePort {
            try easy.set(.connectTo, TextList(["::\(host):\(port)"]))
        }
    }

    /// Whether the addresses to connect to are pinned, so that libcurl may look up no name for them.
    var isPinned: Bool {
        guard request.options.hasRareOptions, !names.addresses.isEmpty else { return false }
        return (try? target().pinned) != nil
    }

    /// The host and the port to connect to, and the addresses pinned for them; `nil` for none.
    private func target() throws -> (host: String, port: Int, pinned: [String]?) {
        var (host, port) = (url.host, url.effectivePort)
        if let rule = names.connectTo.first(where: { $0.fits(host, port) }) {
            host = rule.toHost?.bracketed ?? host
            port = rule.toPort ?? port
        }
        if PinnedName.isOne(host) { throw NetworkError.hostOfAnother }
        guard let entry = names.addresses.first(where: { $0.host.bracketed == host && $0.port == port }) else {
            return (host, port, nil)
        }
        // libcurl looks the name up if no entry has the wanted version.
        let addresses = entry.addresses.filter { ipVersion.includes($0) }
        guard !addresses.isEmpty else { throw NetworkError.nothingPinned(for: host, ipVersion) }
        return (host, port, addresses)
    }
}

extension NetworkError {
    static var hostOfAnother: NetworkError {
        NetworkError(.invalidURL, "the host stands for addresses that another request pinned", phase: .preparing)
    }

    fileprivate static func nothingPinned(
        for host: String, _ ipVersion: TransportOptions.Connection.IPVersion
    ) -> NetworkError {
        NetworkError(
            .nameNotResolved,
            "names.addresses has no address of the host for connection.ipVersion \(ipVersion)", phase: .preparing)
    }
}

extension TransportOptions.Connection.IPVersion {
    fileprivate func includes(_ address: String) -> Bool {
        switch self {
        case .any: true
        case .v4: !address.contains(":")
        case .v6: address.contains(":")
        }
    }
}

extension TransportOptions.Names.ConnectTo {
    fileprivate func fits(_ host: String, _ port: Int) -> Bool {
        (self.host.map { $0.bracketed == host } ?? true) && (self.port.map { $0 == port } ?? true)
    }
}

extension String {
    /// The host as a URL has it: lowercase, with an IPv6 address in brackets.
    fileprivate var bracketed: String {
        let host = lowercased()
        return host.contains(":") && !host.hasPrefix("[") ? "[\(host)]" : host
    }
}
