import FoundationEssentials

/// The cookies of a jar: which are kept, which replace which, which are evicted. Pure: the caller passes the time.
struct CookieStore: Sendable {
    /// The limits on the cookies of one site and on all cookies.
    static let maximumPerSite = 180
    static let maximumInAll = 3000

    private struct Entry: Sendable {
        var cookie: CookieJar.Cookie
        /// The order of creation; a replacement keeps the place of the cookie that it replaces.
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

    /// Returns all cookies that have not expired, in the order of creation.
    func cookies(at now: Date) -> [CookieJar.Cookie] {
        sites.values.joined().filter { !$0.cookie.isExpired(at: now) }.sorted { $0.created < $1.created }.map(\.cookie)
    }

    /// About what the cookies take in memory, in bytes.
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
