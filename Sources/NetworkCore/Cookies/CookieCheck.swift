import FoundationEssentials

/// What is wrong with a cookie that did not come from a server.
enum CookieCheck {
    /// The problem as the rest of a sentence, without the value; `nil` for none.
    static func problem(with cookie: Cookie, suffixes: PublicSuffixList) -> String? {
        let isControl: (UInt8) -> Bool = { $0 < 0x20 || $0 == 0x7F }
        let name = cookie.name.utf8
        guard !name.isEmpty else { return "has no name" }
        guard !name.contains(where: { isControl($0) || "=; ".utf8.contains($0) }) else {
            return "has a name with ';', '=', a space or a control character"
        }
        let shown = "'\(cookie.name.prefix(64))'"
        if cookie.value.utf8.contains(where: { isControl($0) || $0 == UInt8(ascii: ";") }) {
            return "\(shown) has ';' or a control character in its value"
        }
        if name.count + cookie.value.utf8.count > SetCookieParser.maximumPairBytes {
            return "\(shown) has more than \(SetCookieParser.maximumPairBytes) bytes"
        }
        guard cookie.path.utf8.first == UInt8(ascii: "/"),
            cookie.path.utf8.count <= SetCookieParser.maximumAttributeBytes,
            !cookie.path.utf8.contains(where: { isControl($0) || $0 == UInt8(ascii: ";") })
        else { return "\(shown) has a path that can't be one" }
        if let expires = cookie.expires, !expires.timeIntervalSince1970.isFinite {
            return "\(shown) ends at no moment"
        }
        guard isHost(cookie.domain) else { return "\(shown) has a domain that is no host's name in lower case" }
        let isAddress = CookieMatching.isAddress(cookie.domain)
        if cookie.includesSubdomains, !isAddress, suffixes.isPublicSuffix(cookie.domain) {
            return "\(shown) has a domain that belongs to nobody ('\(cookie.domain)')"
        }
        guard SetCookieParser.keepsItsPrefix(cookie, hasPath: cookie.path == "/") else {
            return "\(shown) does not keep what its prefix promises"
        }
        return nil
    }

    /// The names in the value of a `Cookie` field.
    static func names(in field: String) -> Set<[UInt8]> {
        Set(
            field.utf8.split(separator: UInt8(ascii: ";")).map { pair in
                Array(pair.prefix { $0 != UInt8(ascii: "=") }.drop { $0 == 0x20 || $0 == 0x09 })
            })
    }

    /// Whether a text is a host as ``RequestURL`` has it.
    private static func isHost(_ domain: String) -> Bool {
        guard domain.utf8.count <= 254, let url = try? RequestURL("http://\(domain)/") else { return false }
        return url.host.hasSameBytes(as: domain) && url.port == nil && url.path == "/"
    }
}
