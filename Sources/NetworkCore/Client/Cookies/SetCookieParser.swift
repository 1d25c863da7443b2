import FoundationEssentials

/// A parser for one `Set-Cookie` value: RFC 6265 §5.2, with the sizes, the control characters, the prefixes and the
/// rules for Secure of its successor (draft-ietf-httpbis-rfc6265bis).
struct SetCookieParser {
    static let maximumPairBytes = 4096
    /// The limit on a path, in bytes, which the URL gives where no attribute does. It bounds the memory of a full jar.
    static let maximumPathBytes = 4096
    /// The limit on an attribute's value, in bytes; a longer attribute is ignored.
    static let maximumAttributeBytes = 1024
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
        guard !field.utf8.contains(where: { $0.isControl && $0 != 0x09 }) else { return nil }
        let parts = field.split(atByte: UInt8(ascii: ";"))
        let pair = parts[0].split(atByte: UInt8(ascii: "="), maximumSplits: 1)
        guard pair.count == 2 else { return nil }
        let (name, value) = (String(pair[0].withoutBlanks), String(pair[1].withoutBlanks))
        guard CookieCheck.isName(name.utf8), CookieCheck.isValue(value.utf8),
            name.utf8.count + value.utf8.count <= Self.maximumPairBytes
        else { return nil }
        let attributes = read(parts.dropFirst())
        guard let scope = scope(of: attributes.domain) else { return nil }
        let path = attributes.path ?? defaultPath
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
        guard !cookie.isSecure || url.isTrustworthy else { return nil }
        return Self.keepsItsPrefix(cookie, hasPath: attributes.path == "/") ? cookie : nil
    }

    private func read(_ parts: ArraySlice<Substring>) -> Attributes {
        var attributes = Attributes()
        for part in parts {
            let halves = part.split(atByte: UInt8(ascii: "="), maximumSplits: 1)
            let value = halves.count > 1 ? String(halves[1].withoutBlanks) : ""
            guard value.utf8.count <= Self.maximumAttributeBytes else { continue }
            switch halves[0].withoutBlanks.lowercasedASCII {
            case "expires": if let date = FieldDate.parse(value) { attributes.expires = date }
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

    private var defaultPath: String {
        let last = url.path.utf8.lastIndex(of: UInt8(ascii: "/")) ?? url.path.startIndex
        return last == url.path.startIndex ? "/" : String(url.path[..<last])
    }

    private func end(of attributes: Attributes) -> Date? {
        let latest = Self.latestEnd(from: now)
        if let age = attributes.maximumAge {
            return age <= 0 ? Date(timeIntervalSince1970: 0) : min(now.addingTimeInterval(Double(age)), latest)
        }
        return attributes.expires.map { min($0, latest) }
    }

    static func latestEnd(from now: Date) -> Date { now.addingTimeInterval(Double(maximumAge)) }

    /// Whether the cookie keeps the rules of `__Secure-` and `__Host-`, from which a server sees how it was set.
    static func keepsItsPrefix(_ cookie: CookieJar.Cookie, hasPath: Bool) -> Bool {
        let name = cookie.name.lowercasedASCII
        if name.hasBytePrefix("__secure-") { return cookie.isSecure }
        if name.hasBytePrefix("__host-") { return cookie.isSecure && !cookie.includesSubdomains && hasPath }
        return true
    }

    private static func age(_ text: String) -> Int? {
        let digits = text.utf8.first == UInt8(ascii: "-") ? text.utf8.dropFirst() : text.utf8[...]
        guard !digits.isEmpty, digits.allSatisfy(\.isDigit) else { return nil }
        return Int(text) ?? (text.hasBytePrefix("-") ? .min : maximumAge)
    }

    static func withoutDot(_ domain: String) -> String {
        domain.utf8.first == UInt8(ascii: ".") ? String(decoding: domain.utf8.dropFirst(), as: UTF8.self) : domain
    }
}

/// The check of cookies that did not come from a server.
enum CookieCheck {
    /// Returns the problem as the rest of a sentence, without the value; `nil` if there is none.
    static func problem(with cookie: CookieJar.Cookie, suffixes: CookieJar.PublicSuffixList) -> String? {
        let name = cookie.name.utf8
        guard !name.isEmpty else { return "has no name" }
        guard isName(name) else { return "has a name with ';', '=', a control character or a space at an end" }
        let shown = "'\(cookie.name.prefix(64))'"
        if !isValue(cookie.value.utf8) {
            return "\(shown) has ';' or a control character in its value"
        }
        if name.count + cookie.value.utf8.count > SetCookieParser.maximumPairBytes {
            return "\(shown) has more than \(SetCookieParser.maximumPairBytes) bytes"
        }
        guard cookie.path.utf8.first == UInt8(ascii: "/"),
            cookie.path.utf8.count <= SetCookieParser.maximumPathBytes,
            !cookie.path.utf8.contains(where: { $0.isControl || $0 == UInt8(ascii: ";") })
        else { return "\(shown) has an invalid path" }
        if let expires = cookie.expires, !expires.timeIntervalSince1970.isFinite {
            return "\(shown) has an invalid expiry date"
        }
        guard isHost(cookie.domain) else { return "\(shown) has a domain that is not a host name in lower case" }
        let isAddress = HostName.isAddress(cookie.domain)
        if cookie.includesSubdomains, !isAddress, suffixes.isPublicSuffix(cookie.domain) {
            return "\(shown) has a public suffix as its domain ('\(cookie.domain)')"
        }
        guard SetCookieParser.keepsItsPrefix(cookie, hasPath: cookie.path == "/") else {
            return "\(shown) breaks the rule of its name's prefix"
        }
        return nil
    }

    /// Whether a server may set, and a file may hold, a cookie of this name. A space inside the name is part of it.
    static func isName(_ name: String.UTF8View) -> Bool {
        guard let first = name.first, let last = name.last, first != 0x20, last != 0x20 else { return false }
        return !name.contains { $0.isControl || "=;".utf8.contains($0) }
    }

    static func isValue(_ value: String.UTF8View) -> Bool {
        !value.contains { $0.isControl && $0 != 0x09 || $0 == UInt8(ascii: ";") }
    }

    static func names(in field: String) -> Set<[UInt8]> {
        Set(
            field.utf8.split(separator: UInt8(ascii: ";")).map { pair in
                Array(pair.prefix { $0 != UInt8(ascii: "=") }.drop(while: \.isBlank))
            })
    }

    /// Whether a text is a host in the form of ``RequestURL/host``.
    private static func isHost(_ domain: String) -> Bool {
        guard domain.utf8.count <= 254, let url = try? RequestURL("http://\(domain)/") else { return false }
        return url.host.hasSameBytes(as: domain) && url.port == nil && url.path == "/"
    }
}
