public import FoundationEssentials
public import HTTPTypes
import Synchronization

/// Cookies in memory ([RFC 6265](https://www.rfc-editor.org/rfc/rfc6265)), shared by everything that holds the jar. A
/// ``NetworkClient`` has no jar by default:
///
/// ```swift
/// client.cookieJar = CookieJar()
/// ```
///
/// Every exchange of a call, redirects and retries included, sends the cookies that match its URL and stores the
/// cookies that the response sets. A `Cookie` field that the caller has set comes first; the jar then adds the cookies
/// whose names are not in that field.
///
/// The jar refuses a cookie for a public suffix (`co.uk`), and a cookie with Secure that came over http, unless from
/// this machine (``Cookie/isSecure``); it enforces the rules of the `__Secure-` and `__Host-` prefixes. The limits are
/// 4096 bytes of name and value, as many of the path, 50 cookies from one response, 180 per site and 3000 in all; a
/// cookie of a response or of a file lasts at most 400 days, one that the caller sets lasts as long as it says. When
/// there are too many, expired cookies go first, then those without Secure, then the rest, each time the least recently
/// used first: a cookie without Secure never displaces one with it. The jar adds cookies, those with the longest paths
/// first, as long as the field with the caller's own ones has at most 8190 bytes.
public final class CookieJar: Sendable {
    static let maximumPerResponse = 50
    static let maximumFieldBytes = 8190

    private let store: Guarded<CookieStore>
    private let suffixes: PublicSuffixList
    private let now: @Sendable () -> Date

    /// Creates an empty jar.
    /// - Parameters:
    ///   - publicSuffixes: The names that no single site owns. Default: the system's list, or the built-in one.
    ///   - now: The clock by which cookies expire. Default: the system's.
    public init(publicSuffixes: PublicSuffixList = .system, now: @escaping @Sendable () -> Date = { Date() }) {
        suffixes = publicSuffixes
        store = Guarded(CookieStore(suffixes: publicSuffixes))
        self.now = now
    }

    /// All cookies that have not expired, in the order of their creation.
    public var cookies: [Cookie] {
        let now = now()
        return store.withLock { $0.cookies(at: now) }
    }

    /// Returns the cookies that a request to the URL carries, in the order in which they are sent.
    public func cookies(for url: RequestURL) -> [Cookie] {
        let now = now()
        return store.withLock { $0.cookies(for: url, at: now) }
    }

    /// Stores a cookie in place of those with the same name, domain and path, whether they include the subdomains or
    /// not. An expired cookie only removes those.
    /// - Throws: ``NetworkError/Code/invalidOption`` for a cookie that no server could set: one with an empty name,
    ///   with `;` or control characters, with a domain that is not a host name or that includes the subdomains of a
    ///   public suffix, or with a path that does not start with `/` or is longer than 4096 bytes.
    public func set(_ cookie: Cookie) throws {
        if let problem = CookieCheck.problem(with: cookie, suffixes: suffixes) {
            throw NetworkError.refused(.invalidOption, "the cookie \(problem)")
        }
        var other = cookie
        (other.includesSubdomains, other.expires) = (!cookie.includesSubdomains, .distantPast)
        let now = now()
        store.withLock { store in
            store.keep(other, at: now)
            store.keep(cookie, at: now)
        }
    }

    /// Stores the cookies that a response sets.
    public func take(_ fields: HTTPFields, from url: RequestURL) {
        let lines = fields[values: .setCookie]
        guard !lines.isEmpty else { return }
        let now = now()
        let parser = SetCookieParser(url: url, now: now, suffixes: suffixes)
        let cookies = lines.prefix(Self.maximumPerResponse).compactMap(parser.parse)
        // Together: a request must not get a part of what one response has set.
        store.withLock { store in
            for cookie in cookies where url.isTrustworthy || !store.protects(against: cookie, at: now) {
                store.keep(cookie, at: now)
            }
        }
    }

    /// Returns the value of the `Cookie` field for a URL; `nil` if no cookie matches.
    /// - Parameters:
    ///   - url: The URL of the request.
    ///   - own: The caller's own `Cookie` field, which stays in front.
    public func fieldValue(for url: RequestURL, after own: String? = nil) -> String? {
        var value = own ?? ""
        let taken = CookieCheck.names(in: value)
        for cookie in cookies(for: url) where !taken.contains(Array(cookie.name.utf8)) {
            let pair = "\(value.isEmpty ? "" : "; ")\(cookie.name)=\(cookie.value)"
            guard value.utf8.count + pair.utf8.count <= Self.maximumFieldBytes else { break }
            value += pair
        }
        return value.isEmpty ? nil : value
    }

    /// Removes all cookies.
    public func removeAll() { store.withLock { $0.removeAll() } }

    func keep(_ cookies: [Cookie]) {
        let now = now()
        let latest = SetCookieParser.latestEnd(from: now)
        store.withLock { store in
            for var cookie in cookies {
                cookie.expires = cookie.expires.map { min($0, latest) }
                store.keep(cookie, at: now)
            }
        }
    }

    /// About what the cookies take in memory, in bytes: their texts, and 256 bytes for the rest of each. Those that
    /// have expired count until they leave.
    public var heldBytes: Int { store.withLock(\.heldBytes) }

    func accepts(_ cookie: Cookie) -> Bool { CookieCheck.problem(with: cookie, suffixes: suffixes) == nil }
}
