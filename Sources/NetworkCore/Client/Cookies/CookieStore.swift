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

/// The cookies of a jar: which are kept, which replace which, which are evicted. Pure: the caller passes the time.
struct CookieStore: Sendable {
    static let maximumPerSite = 180
    static let maximumInAll = 3000

    private struct Entry: Sendable {
        var cookie: CookieJar.Cookie
        var created: Int
        var used: Int

        /// The entry with the lowest rank is evicted first.
        var rank: (Int, Int) { (cookie.isSecure ? 1 : 0, used) }
    }

    let suffixes: CookieJar.PublicSuffixList
    private var sites: [String: [Entry]] = [:]
    private(set) var count = 0
    private var steps = 0

    init(suffixes: CookieJar.PublicSuffixList) { self.suffixes = suffixes }

    func cookies(at now: Date) -> [CookieJar.Cookie] {
        sites.values.joined().filter { !$0.cookie.isExpired(at: now) }.sorted { $0.created < $1.created }.map(\.cookie)
    }

    var heldBytes: Int {
        sites.values.joined().reduce(0) { bytes, entry in
            let cookie = entry.cookie
            return bytes + 256 + cookie.name.utf8.count + cookie.value.utf8.count + cookie.domain.utf8.count
                + cookie.path.utf8.count
        }
    }

    /// Returns the cookies of a request: longer paths first, then older cookies.
    mutating func cookies(for url: RequestURL, at now: Date) -> [CookieJar.Cookie] {
        let site = suffixes.site(of: url.host)
        guard let entries = sites[site] else { return [] }
        steps += 1
        var matching: [Entry] = []
        for index in entries.indices where entries[index].cookie.matches(url) {
            guard !entries[index].cookie.isExpired(at: now) else { continue }
            sites[site]?[index].used = steps
            matching.append(entries[index])
        }
        matching.sort {
            ($1.cookie.path.utf8.count, $0.created) < ($0.cookie.path.utf8.count, $1.created)
        }
        return matching.map(\.cookie)
    }

    /// Whether a cookie that came without TLS would replace or hide one that came over TLS.
    func protects(against cookie: CookieJar.Cookie, at now: Date) -> Bool {
        (sites[suffixes.site(of: cookie.domain)] ?? []).contains { entry in
            let kept = entry.cookie
            return kept.isSecure && !kept.isExpired(at: now) && kept.name.hasSameBytes(as: cookie.name)
                && (CookieMatching.domain(kept.domain, matches: cookie.domain)
                    || CookieMatching.domain(cookie.domain, matches: kept.domain))
                && CookieMatching.path(cookie.path, matches: kept.path)
        }
    }

    /// Stores a cookie in place of one with the same name, domain and path; an expired one only removes that one.
    mutating func keep(_ cookie: CookieJar.Cookie, at now: Date) {
        let site = suffixes.site(of: cookie.domain)
        var entries = sites[site] ?? []
        let before = entries.count
        steps += 1
        let place = entries.firstIndex { $0.cookie.isReplaced(by: cookie) }
        if cookie.isExpired(at: now) {
            if let place { entries.remove(at: place) }
        } else if let place {
            entries[place].cookie = cookie
            entries[place].used = steps
        } else {
            entries.append(Entry(cookie: cookie, created: steps, used: steps))
        }
        if entries.count > Self.maximumPerSite {
            entries.removeAll { $0.cookie.isExpired(at: now) }
            Self.removeLeast(of: &entries, downTo: Self.maximumPerSite)
        }
        sites[site] = entries.isEmpty ? nil : entries
        count += entries.count - before
        if count > Self.maximumInAll { makeRoom(for: cookie, at: now) }
    }

    mutating func removeAll() {
        sites = [:]
        count = 0
    }

    /// Removes the lowest ranks: cookies without Secure before those with it, then the least recently used.
    private static func removeLeast(of entries: inout [Entry], downTo limit: Int) {
        while entries.count > limit, let least = entries.indices.min(by: { entries[$0].rank < entries[$1].rank }) {
            entries.remove(at: least)
        }
    }

    /// Removes expired cookies, and then the lowest ranks until a tenth of the room is free, so that the next cookies
    /// cost no search. A cookie that came without TLS drives out no secure one.
    private mutating func makeRoom(for cookie: CookieJar.Cookie, at now: Date) {
        sites = sites.mapValues { $0.filter { !$0.cookie.isExpired(at: now) } }.filter { !$0.value.isEmpty }
        count = sites.values.reduce(0) { $0 + $1.count }
        guard count > Self.maximumInAll else { return }
        let removable = sites.values.joined().filter { cookie.isSecure || !$0.cookie.isSecure }.map(\.rank)
        let excess = min(removable.count, count - Self.countAfterEviction)
        // Cookies of one request have been used at the same time, and go together.
        let highest = removable.sorted(by: <)[excess - 1]
        sites = sites.mapValues { $0.filter { $0.rank > highest } }.filter { !$0.value.isEmpty }
        count = sites.values.reduce(0) { $0 + $1.count }
    }

    private static let countAfterEviction = maximumInAll / 10 * 9
}
