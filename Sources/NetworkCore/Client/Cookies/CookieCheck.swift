import FoundationEssentials

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
            !cookie.path.utf8.contains(where: { isControl($0) || $0 == UInt8(ascii: ";") })
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
        return !name.contains { isControl($0) || "=;".utf8.contains($0) }
    }

    /// Whether a server may set, and a file may hold, this value.
    static func isValue(_ value: String.UTF8View) -> Bool {
        !value.contains { isControl($0) && $0 != 0x09 || $0 == UInt8(ascii: ";") }
    }

    private static func isControl(_ byte: UInt8) -> Bool { byte < 0x20 || byte == 0x7F }

    /// Returns the names in the value of a `Cookie` field.
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
