import FoundationEssentials

/// A parser for one `Set-Cookie` value: RFC 6265 §5.2, with the sizes, the control characters, the prefixes and the
/// rules for Secure of its successor (draft-ietf-httpbis-rfc6265bis).
struct SetCookieParser {
    /// The limit on name and value together, in bytes.
    static let maximumPairBytes = 4096
    /// The limit on a path, in bytes, which the URL gives where no attribute does. It bounds the memory of a full jar.
    static let maximumPathBytes = 4096
    /// The limit on an attribute's value, in bytes; a longer attribute is ignored.
    static let maximumAttributeBytes = 1024
    /// The longest time that a cookie is kept, in seconds: 400 days.
    static let maximumAge = 400 * 86_400

    let url: RequestURL
    let now: Date
    let suffixes: CookieJar.PublicSuffixList

    private struct Attributes {
        var expires: Date?
        var maximumAge: Int?
        var domain: String?
        var path: String?
        var isSecure = false
        var isHTTPOnly = false
    }

    /// Returns the cookie; `nil` for a field that RFC 6265 ignores.
    func parse(_ field: String) -> CookieJar.Cookie? {
        guard !field.utf8.contains(where: { $0 < 0x20 && $0 != 0x09 || $0 == 0x7F }) else { return nil }
        var parts = field.utf8.split(separator: UInt8(ascii: ";"), omittingEmptySubsequences: false)[...]
        guard let pair = parts.popFirst(), let equals = pair.firstIndex(of: UInt8(ascii: "=")) else { return nil }
        let name = Self.trimmed(pair[..<equals])
        let value = Self.trimmed(pair[pair.index(after: equals)...])
        guard CookieCheck.isName(name.utf8), CookieCheck.isValue(value.utf8),
            name.utf8.count + value.utf8.count <= Self.maximumPairBytes
        else { return nil }
        let attributes = read(parts)
        guard let scope = scope(of: attributes.domain) else { return nil }
        let path = attributes.path ?? CookieMatching.defaultPath(of: url.path)
        guard path.utf8.count <= Self.maximumPathBytes else { return nil }
        let cookie = CookieJar.Cookie(
            name: name,
            value: value,
            domain: scope.domain,
            includesSubdomains: scope.includesSubdomains,
            path: path,
            isSecure: attributes.isSecure,
            isHTTPOnly: attributes.isHTTPOnly,
            expires: end(of: attributes)
        )
        guard !cookie.isSecure || url.scheme == "https" else { return nil }
        return Self.keepsItsPrefix(cookie, hasPath: attributes.path == "/") ? cookie : nil
    }

    private func read(_ parts: ArraySlice<Substring.UTF8View>) -> Attributes {
        var attributes = Attributes()
        for part in parts {
            let halves = part.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
            let value = halves.count > 1 ? Self.trimmed(halves[1]) : ""
            guard value.utf8.count <= Self.maximumAttributeBytes else { continue }
            switch Self.trimmed(halves[0]).lowercasedASCII {
            case "expires": if let date = CookieDate.parse(value) { attributes.expires = date }
            case "max-age": if let age = Self.age(value) { attributes.maximumAge = age }
            case "domain": if !value.isEmpty { attributes.domain = Self.withoutDot(value).lowercasedASCII }
            case "path":
                let isPath = value.utf8.first == UInt8(ascii: "/") && !value.utf8.contains(0x09)
                attributes.path = isPath ? value : nil
            case "secure": attributes.isSecure = true
            case "httponly": attributes.isHTTPOnly = true
            default: break
            }
        }
        return attributes
    }

    /// Returns the hosts that the cookie is for; `nil` if the server may not set cookies for them.
    private func scope(of domain: String?) -> (domain: String, includesSubdomains: Bool)? {
        guard let domain, !domain.hasSameBytes(as: url.host) else {
            let isWide = domain != nil && !HostName.isAddress(url.host) && !suffixes.isPublicSuffix(url.host)
            return (url.host, isWide)
        }
        // With a public suffix between the two, other owners' hosts would get the cookie.
        guard CookieMatching.domain(url.host, matches: domain), !suffixes.isPublicSuffix(domain),
            suffixes.site(of: domain).hasSameBytes(as: suffixes.site(of: url.host))
        else { return nil }
        return (domain, true)
    }

    private func end(of attributes: Attributes) -> Date? {
        let latest = now.addingTimeInterval(Double(Self.maximumAge))
        if let age = attributes.maximumAge {
            return age <= 0 ? Date(timeIntervalSince1970: 0) : min(now.addingTimeInterval(Double(age)), latest)
        }
        return attributes.expires.map { min($0, latest) }
    }

    /// Whether the cookie keeps the rules of `__Secure-` and `__Host-`, from which a server sees how it was set.
    static func keepsItsPrefix(_ cookie: CookieJar.Cookie, hasPath: Bool) -> Bool {
        let name = cookie.name.lowercasedASCII
        if name.hasBytePrefix("__secure-") { return cookie.isSecure }
        if name.hasBytePrefix("__host-") { return cookie.isSecure && !cookie.includesSubdomains && hasPath }
        return true
    }

    /// Returns the number of a text of digits, perhaps after a minus; beyond `Int`, the maximum age or `Int.min`.
    private static func age(_ text: String) -> Int? {
        let digits = text.utf8.first == UInt8(ascii: "-") ? text.utf8.dropFirst() : text.utf8[...]
        guard !digits.isEmpty, digits.allSatisfy(\.isDigit) else { return nil }
        return Int(text) ?? (text.hasBytePrefix("-") ? .min : maximumAge)
    }

    static func withoutDot(_ domain: String) -> String {
        domain.utf8.first == UInt8(ascii: ".") ? String(decoding: domain.utf8.dropFirst(), as: UTF8.self) : domain
    }

    private static func trimmed(_ text: Substring.UTF8View) -> String {
        String(Substring(text).withoutBlanks)
    }
}
