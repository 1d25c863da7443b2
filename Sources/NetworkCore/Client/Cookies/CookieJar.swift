public import FoundationEssentials
public import HTTPTypes
import Synchronization

/// Cookies in memory (RFC 6265), shared by all who hold the jar. A ``NetworkClient`` has none until it is given one:
///
/// ```swift
/// client.cookies = CookieJar()
/// ```
///
/// Every exchange of a call takes the cookies that are for its URL along and hands in what the server sets, redirects
/// and retries included. A `Cookie` field of the caller's own stays in front, and of the jar's cookies those are added
/// whose names it does not have.
///
/// A cookie for a public suffix (`co.uk`) is refused, one with Secure from http too; `__Secure-` and `__Host-` names
/// are kept to their word. At most 4096 bytes of name and value, 50 cookies of one response, 180 of a site, 3000 in
/// all, 400 days. When there are too many, those that are over go first, then those without Secure, then the rest, each
/// time the ones used longest ago: a response in clear never drives out a cookie with Secure. At most 8190 bytes of
/// cookies are sent with a request, the longest paths first.
public final class CookieJar: Sendable {
    /// The most `Set-Cookie` fields of one response that count.
    static let maximumPerResponse = 50
    /// The most bytes that are sent with one request.
    static let maximumFieldBytes = 8190

    private let store: Guarded<CookieStore>
    private let suffixes: PublicSuffixList
    private let now: @Sendable () -> Date

    /// An empty jar.
    /// - Parameters:
    ///   - publicSuffixes: The names that belong to nobody; the system's list, or the built-in one, if not given.
    ///   - now: The clock by which cookies end.
    public init(publicSuffixes: PublicSuffixList = .system, now: @escaping @Sendable () -> Date = { Date() }) {
        suffixes = publicSuffixes
        store = Guarded(CookieStore(suffixes: publicSuffixes))
        self.now = now
    }

    /// All cookies that are not over, in the order of their creation.
    public var cookies: [Cookie] {
        let now = now()
        return store.withLock { $0.cookies(at: now) }
    }

    /// The cookies that go to a URL, in the order in which they are sent.
    public func cookies(for url: RequestURL) -> [Cookie] {
        let now = now()
        return store.withLock { $0.cookies(for: url, at: now) }
    }

    /// Puts a cookie in, in the place of one with the same name, domain and path. One that is over takes that one away.
    /// - Throws: ``NetworkError/Code/invalidOption`` for what no server could set: an empty name, `;` or control
    ///   characters, a domain that is no host's name or is a public suffix for more than itself, a path without its
    ///   `/`.
    public func set(_ cookie: Cookie) throws {
        if let problem = CookieCheck.problem(with: cookie, suffixes: suffixes) {
            throw NetworkError(.invalidOption, "the cookie \(problem)", phase: .preparing)
        }
        keep(cookie)
    }

    /// Takes what a response sets.
    public func take(_ fields: HTTPFields, from url: RequestURL) {
        let lines = fields[values: .setCookie]
        guard !lines.isEmpty else { return }
        let now = now()
        let parser = SetCookieParser(url: url, now: now, suffixes: suffixes)
        for cookie in lines.prefix(Self.maximumPerResponse).compactMap(parser.parse) {
            store.withLock { store in
                if url.scheme != "https", store.protects(against: cookie, at: now) { return }
                store.keep(cookie, at: now)
            }
        }
    }

    /// The value of the `Cookie` field for a URL; `nil` for none.
    /// - Parameters:
    ///   - url: Where the request goes.
    ///   - own: The caller's field, which stays in front.
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

    /// Empties it.
    public func removeAll() { store.withLock { $0.removeAll() } }

    func keep(_ cookie: Cookie) {
        let now = now()
        store.withLock { $0.keep(cookie, at: now) }
    }

    /// Whether a cookie of a file is one that a server could have set.
    func accepts(_ cookie: Cookie) -> Bool { CookieCheck.problem(with: cookie, suffixes: suffixes) == nil }
}
