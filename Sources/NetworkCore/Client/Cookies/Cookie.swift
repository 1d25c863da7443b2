public import FoundationEssentials

extension CookieJar {
    /// One cookie and where it is sent. Its value is a secret: no description shows it.
    public struct Cookie: Sendable, Hashable {
        /// The name.
        public var name: String
        /// The value, as it is on the wire.
        public var value: String
        /// The host it belongs to, lower-cased, without a leading dot; an IPv6 address in brackets.
        public var domain: String
        /// Whether it is sent to the hosts below ``domain`` too.
        public var includesSubdomains: Bool
        /// The path below which it is sent, `/` at least.
        public var path: String
        /// Whether it is sent over https alone.
        public var isSecure: Bool
        /// Whether its server wants it kept from scripts. It is sent all the same; kept for the file format.
        public var isHTTPOnly: Bool
        /// When it ends; `nil` for one that ends with the jar.
        public var expires: Date?
        /// Whether a file has its line in Latin-1. What is written back has the same bytes.
        var isLatin1 = false

        /// A cookie of your own; ``CookieJar/set(_:)`` checks it.
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

        /// Whether it goes along with a request.
        func matches(_ url: RequestURL) -> Bool {
            guard !isSecure || url.scheme == "https" else { return false }
            let isOfHost =
                includesSubdomains
                ? CookieMatching.domain(url.host, matches: domain) : url.host.hasSameBytes(as: domain)
            return isOfHost && CookieMatching.path(url.path, matches: path)
        }

        func isExpired(at now: Date) -> Bool { expires.map { $0 <= now } ?? false }

        /// Whether the other takes this one's place.
        func isReplaced(by other: Cookie) -> Bool {
            name.hasSameBytes(as: other.name) && domain.hasSameBytes(as: other.domain)
                && path.hasSameBytes(as: other.path)
                && includesSubdomains == other.includesSubdomains
        }
    }
}

/// Which host and which path a cookie is for (RFC 6265 §5.1.3, §5.1.4).
enum CookieMatching {
    /// Whether a host is a domain or below it. An address is below nothing.
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

    /// The path of a cookie that names none.
    static func defaultPath(of path: String) -> String {
        guard path.utf8.first == UInt8(ascii: "/"), let last = path.utf8.lastIndex(of: UInt8(ascii: "/")),
            last != path.startIndex
        else { return "/" }
        return String(path[..<last])
    }
}
