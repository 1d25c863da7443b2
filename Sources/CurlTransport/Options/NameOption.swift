import NetworkCore

/// The resolver's options (CURLOPT_DOH_URL, DNS_SHUFFLE_ADDRESSES). The pool sets the time of its cache
/// (CURLOPT_DNS_CACHE_TIMEOUT).
struct NameOption: EasyOption {
    let all: TransportOptions
    private var options: TransportOptions.Names { all.names }

    /// Refuses DNS over HTTPS where libcurl would use the environment's proxy for it against the request's own options,
    /// or freed memory.
    static func check(
        _ options: TransportOptions, environmentNamesProxy: Bool, support: LibcurlSupport = Libcurl.found
    ) throws {
        guard options.names.dnsOverHTTPS != nil else { return }
        guard !support.suffers(from: .lookUpsUseFreedMemory) else {
            throw NetworkError(
                .unsupported,
                "names.dnsOverHTTPS works with libcurl up to 8.4 and from 8.9 on: those between use freed memory when "
                    + "such a lookup is given up",
                phase: .preparing)
        }
        guard environmentNamesProxy, !ProxyOption.usesEnvironments(options) else { return }
        throw NetworkError(
            .unsupported,
            "libcurl looks up names over HTTPS (names.dnsOverHTTPS) via the proxy that https_proxy or all_proxy names, "
                + "which this request must not use: unset it, or let the request use that proxy (proxy: .environment)",
            phase: .preparing)
    }

    func apply(to easy: EasyHandle) throws {
        try Self.check(all, environmentNamesProxy: NoProxyOption.mayBeNamedForHTTPS)
        if let url = options.dnsOverHTTPS { try easy.set(.dnsOverHTTPS, url) }
        if options.shufflesAddresses { try easy.set(.shuffleAddresses, 1) }
    }
}

/// The destination of the connection when the URL does not give it (CURLOPT_CONNECT_TO, CURLOPT_RESOLVE).
///
/// Pinned addresses are in the name cache of the request's pool, whose other requests have pinned the same ones.
struct RouteOption: EasyOption {
    let request: TransportRequest
    private var url: RequestURL { request.url }
    private var names: TransportOptions.Names { request.options.names }
    private var ipVersion: TransportOptions.Connection.IPVersion { request.options.connection.ipVersion }

    func apply(to easy: EasyHandle) throws {
        let (host, port, pinned) = try target()
        if let pinned {
            let addresses = pinned.map(\.bracketed).joined(separator: ",")
            try easy.set(.resolve, TextList(["\(host):\(port):\(addresses)"]))
        }
        let serverName = request.options.tls.serverName
        if let serverName {
            let query = url.query.map { "?\($0)" } ?? ""
            let target = "\(url.scheme)://\(serverName.bracketed):\(url.effectivePort)\(url.path)\(query)"
            try easy.set(urlText: target)
        }
        if serverName != nil || host != url.host || port != url.effectivePort {
            try easy.set(.connectTo, TextList(["::\(host):\(port)"]))
        }
    }

    /// The host and the port to connect to, and the addresses pinned for them; `nil` for none.
    private func target() throws -> (host: String, port: Int, pinned: [String]?) {
        var (host, port) = (url.host, url.effectivePort)
        if let rule = names.connectTo.first(where: { $0.fits(host, port) }) {
            host = rule.toHost?.bracketed ?? host
            port = rule.toPort ?? port
        }
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
