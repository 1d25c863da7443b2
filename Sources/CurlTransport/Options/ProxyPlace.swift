import NetworkCore

/// Which proxy a URL names: several spellings are one to libcurl.
struct ProxyPlace: Hashable {
    private let scheme: String
    private let host: String
    private let port: Int

    /// `nil` for what is not scheme, host and port; a user and a password before the host, as the environment may have
    /// them, are passed over.
    init?(_ url: String) {
        let end = url.firstRange(of: "://")
        let scheme = end.map { url[..<$0.lowerBound].lowercased() } ?? "http"
        let rest = end.map { url[$0.upperBound...] } ?? url[...]
        let place = rest.lastIndex(of: "@").map { rest[rest.index(after: $0)...] } ?? rest
        guard let parsed = try? RequestURL("http://" + place) else { return nil }
        self.scheme = scheme
        host = parsed.host
        // libcurl's own.
        port = parsed.port ?? (scheme == "https" ? 443 : 1_080)
    }

    /// Whether libcurl's words on a connection that was not made name it.
    func isNamed(in text: String) -> Bool {
        let name = host.first == "[" ? String(host.dropFirst().dropLast()) : host
        return text.contains(" \(name) port \(port) ") || text.contains(" \(name) port \(port):")
    }
}

extension TransportOptions.Proxy {
    /// Whether libcurl's words on a connection that was not made name a proxy, and not the server.
    func isNamed(in text: String) -> Bool {
        // libcurl 8.23 says so.
        if text.contains(" over proxy ") { return true }
        return switch choice {
        case .none: false
        case .explicit(let proxy): ProxyPlace(proxy.url)?.isNamed(in: text) == true
        case .environment:
            (["http_proxy"] + TunnelOwners.variables).compactMap(EnvironmentVariable.value)
                .contains { ProxyPlace($0)?.isNamed(in: text) == true }
        }
    }
}
