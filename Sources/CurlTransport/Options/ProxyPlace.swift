import NetworkCore

/// The proxy that a URL names: libcurl takes several spellings for the same proxy.
struct ProxyPlace: Hashable {
    private let scheme: String
    /// The host as written, in lower case.
    private let host: String
    private let port: Int
    /// The address that the host is, if it is one of IPv6: libcurl compares one spelling of it.
    private let address: AddressPolicy.Address?

    /// Returns `nil` for a text that is not scheme, host, and port. Ignores a user and password before the host, as the
    /// environment may have them.
    init?(_ url: String) {
        let end = url.firstRange(of: "://")
        let scheme = end.map { url[..<$0.lowerBound].lowercased() } ?? "http"
        let rest = end.map { url[$0.upperBound...] } ?? url[...]
        let place = rest.lastIndex(of: "@").map { rest[rest.index(after: $0)...] } ?? rest
        guard let parsed = try? RequestURL("http://" + place) else { return nil }
        self.scheme = scheme
        host = parsed.host
        address = host.hasPrefix("[") ? AddressPolicy.Address(ProxyExceptions.withoutBrackets(host)) : nil
        // libcurl's defaults.
        port = parsed.port ?? (scheme == "https" ? 443 : 1_080)
    }

    static func == (first: ProxyPlace, second: ProxyPlace) -> Bool { first.key == second.key }

    func hash(into hasher: inout Hasher) { hasher.combine(key) }

    private var key: [String] { [scheme, address.map { "\($0)" } ?? host, "\(port)"] }

    /// Returns whether libcurl's message on a failed connection names this proxy.
    func isNamed(in text: String) -> Bool {
        let name = host.first == "[" ? String(host.dropFirst().dropLast()) : host
        return text.contains(" \(name) port \(port) ") || text.contains(" \(name) port \(port):")
    }
}

/// The proxies that the environment names. Read once: a program that sets variables while other threads read them is
/// not safe (getenv(3)).
enum EnvironmentProxy {
    /// The variables that libcurl reads for a URL of a scheme.
    static func variables(isSecure: Bool) -> [String] {
        (isSecure ? ["https_proxy", "HTTPS_PROXY"] : ["http_proxy"]) + ["all_proxy", "ALL_PROXY"]
    }

    /// Returns the values of the variables for a scheme, also of those that another one overrides.
    static func values(isSecure: Bool) -> [String] { isSecure ? secure : clear }

    static let all = clear + secure

    private static let secure = variables(isSecure: true).compactMap(EnvironmentVariable.value)
    private static let clear = variables(isSecure: false).compactMap(EnvironmentVariable.value)
}

extension ProxyExceptions {
    /// The list of the environment, read once (see ``NoProxyOption``).
    static let environments = ProxyExceptions(
        EnvironmentVariable.value("no_proxy") ?? EnvironmentVariable.value("NO_PROXY") ?? "")
}

extension TransportOptions.Proxy {
    /// Returns whether libcurl's message on a failed connection names a proxy and not the server.
    func isNamed(in text: String) -> Bool {
        // libcurl 8.16 and 8.23 have these words.
        if text.contains(" via ") || text.contains(" over proxy ") { return true }
        return switch self {
        case .none: false
        case .explicit(let proxy): ProxyPlace(proxy.url)?.isNamed(in: text) == true
        case .environment: EnvironmentProxy.all.contains { ProxyPlace($0)?.isNamed(in: text) == true }
        }
    }
}
