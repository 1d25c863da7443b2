public import FoundationEssentials

extension CookieJar {
    /// One cookie and the requests that it is sent with. Its value is a secret: no description shows it.
    public struct Cookie: Sendable, Hashable, SafelyPrinted {
        /// The cookie's name.
        public var name: String
        /// The cookie's value. A value of a response that is not UTF-8 is read as ISO-8859-1, and sent as UTF-8.
        public var value: String
        /// The host that the cookie belongs to, in lower case, without a leading dot. An IPv6 address is in brackets.
        public var domain: String
        /// Whether the cookie is also sent to the subdomains of ``domain``. Default: `false`.
        public var includesSubdomains: Bool
        /// The path that the cookie is sent for, with everything below it. Default: `/`.
        public var path: String
        /// Whether the cookie is sent over https only, or over http to this machine: `localhost`, `*.localhost`,
        /// 127.0.0.0/8 and `[::1]`. Default: `false`.
        public var isSecure: Bool
        /// Whether the server wants the cookie hidden from scripts. The cookie is sent all the same; the file format
        /// keeps the mark. Default: `false`.
        public var isHTTPOnly: Bool
        /// When the cookie expires; `nil`, the default, for a cookie that lives as long as the jar.
        public var expires: Date?
        /// Whether the cookie's line in a file is in Latin-1. The line is written back with the same bytes.
        var isLatin1 = false

        /// Creates a cookie; ``CookieJar/set(_:)`` checks it.
        public init(
            name: String,
            value: String,
            domain: String,
            includesSubdomains: Bool = false,
            path: String = "/",
            isSecure: Bool = false,
            isHTTPOnly: Bool = false,
            expires: Date? = nil
        ) {
            self.name = name
            self.value = value
            self.domain = domain
            self.includesSubdomains = includesSubdomains
            self.path = path
            self.isSecure = isSecure
            self.isHTTPOnly = isHTTPOnly
            self.expires = expires
        }

        /// Whether the cookie is sent with a request to the URL.
        func matches(_ url: RequestURL) -> Bool {
            guard !isSecure || url.isTrustworthy else { return false }
            let isOfHost =
                includesSubdomains
                ? CookieMatching.domain(url.host, matches: domain) : url.host.hasSameBytes(as: domain)
            return isOfHost && CookieMatching.path(url.path, matches: path)
        }

        func isExpired(at now: Date) -> Bool { expires.map { $0 <= now } ?? false }

        func isReplaced(by other: Cookie) -> Bool {
            name.hasSameBytes(as: other.name) && domain.hasSameBytes(as: other.domain)
                && path.hasSameBytes(as: other.path)
                && includesSubdomains == other.includesSubdomains
        }

        /// The name, domain and path.
        public var description: String { Redaction.visible("\(name)=… (\(domain)\(path))") }
    }
}

/// The hosts and paths that a cookie matches (RFC 6265 §5.1.3, §5.1.4).
enum CookieMatching {
    /// Whether a host is a domain or one of its subdomains. An address is a subdomain of nothing.
    static func domain(_ host: String, matches domain: String) -> Bool {
        if host.hasSameBytes(as: domain) { return true }
        guard !HostName.isAddress(host), host.utf8.count > domain.utf8.count, host.hasByteSuffix(domain) else {
            return false
        }
        return host.utf8.dropLast(domain.utf8.count).last == UInt8(ascii: ".")
    }

    static func path(_ path: String, matches cookiePath: String) -> Bool {
        guard path.utf8.starts(with: cookiePath.utf8) else { return false }
        return path.utf8.count == cookiePath.utf8.count || cookiePath.utf8.last == UInt8(ascii: "/")
            || path.utf8.dropFirst(cookiePath.utf8.count).first == UInt8(ascii: "/")
    }
}
