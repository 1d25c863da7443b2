import NetworkCore

/// The resolver (CURLOPT_DNS_CACHE_TIMEOUT, DOH_URL).
struct NameOption: EasyOption {
    let options: NameOptions
    let support: LibcurlSupport

    func apply(to easy: EasyHandle) throws {
        if options.cacheTime != NameOptions().cacheTime {
            try easy.set(.dnsCacheTimeout, options.cacheTime.wholeSeconds)
        }
        if let url = options.dnsOverHTTPS { try easy.set(.dnsOverHTTPS, url) }
    }
}

/// Where the connection goes when that is not where the URL points (CURLOPT_CONNECT_TO, CURLOPT_RESOLVE).
///
/// Entries of CURLOPT_RESOLVE go into the name cache of the whole multi handle and would serve every other request. So
/// the addresses are given to a name made of them and of a secret of the process, for which no other request can ask,
/// and the request connects to that name. That also keeps connections apart: libcurl keys them by where they go.
struct RouteOption: EasyOption {
    let url: RequestURL
    let names: NameOptions
    let serverName: String?
    let support: LibcurlSupport

    func apply(to easy: EasyHandle) throws {
        var (host, port) = (url.host, url.effectivePort)
        if let rule = names.connectTo.first(where: { $0.fits(host, port) }) {
            host = rule.toHost?.bracketed ?? host
            port = rule.toPort ?? port
        }
        if let entry = names.addresses.first(where: { $0.host.bracketed == host && $0.port == port }) {
            host = Self.name(for: entry.addresses)
            let addresses = entry.addresses.map(\.bracketed).joined(separator: ",")
            let sign = support.has(.agingResolveEntries) ? "+" : ""
            try easy.set(.resolve, TextList(["\(sign)\(host):\(port):\(addresses)"]))
        }
        if let serverName {
            let query = url.query.map { "?\($0)" } ?? ""
            let target = "\(url.scheme)://\(serverName.bracketed):\(url.effectivePort)\(url.path)\(query)"
            try easy.set(.url, target)
        }
        if serverName != nil || host != url.host || port != url.effectivePort {
            try easy.set(.connectTo, TextList(["::\(host):\(port)"]))
        }
    }

    /// A name that stands for these addresses and no others: `127-0-0-1.xx1.….static.invalid`.
    static func name(for addresses: [String]) -> String {
        let labels = addresses.map { $0.lowercased().map { $0 == "." ? "-" : $0 == ":" ? "x" : String($0) }.joined() }
        return "\(labels.joined(separator: ".")).\(secret).static.invalid"
    }

    /// No URL that a stranger makes names it.
    private static let secret = (0..<2).map { _ in String(UInt64.random(in: .min ... .max), radix: 36) }.joined()
}

extension NameOptions.ConnectTo {
    fileprivate func fits(_ host: String, _ port: Int) -> Bool {
        (self.host.map { $0.bracketed == host } ?? true) && (self.port.map { $0 == port } ?? true)
    }
}

extension String {
    /// As a URL has it: lower-cased, an IPv6 address in brackets.
    fileprivate var bracketed: String {
        let host = lowercased()
        return host.contains(":") && !host.hasPrefix("[") ? "[\(host)]" : host
    }
}
