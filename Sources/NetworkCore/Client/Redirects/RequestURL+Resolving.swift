extension RequestURL {
    /// Returns the URL that a reference stands for at this URL, by
    /// [RFC 3986 §5.2](https://www.rfc-editor.org/rfc/rfc3986#section-5.2), without the exception for old schemes. The
    /// fragment is dropped.
    /// - Throws: ``NetworkError/Code/invalidURL`` for a reference that does not lead to a URL that this type accepts:
    ///   another scheme, user and password, `http:` without `//`, more than 64 KiB, and so on.
    public func resolving(_ reference: String) throws -> RequestURL {
        let reference = reference.utf8.prefix { $0 != UInt8(ascii: "#") }
        let text = String(Substring(reference))
        if Self.hasScheme(reference) { return try RequestURL(text) }
        if reference.starts(with: "//".utf8) { return try RequestURL("\(scheme):\(text)") }
        let base = "\(scheme)://\(authority)"
        guard let first = reference.first else { return self }
        if first == UInt8(ascii: "/") { return try RequestURL(base + text) }
        if first == UInt8(ascii: "?") { return try RequestURL(base + path + text) }
        let folder = path.lastIndex(of: "/").map { path[...$0] } ?? "/"
        return try RequestURL(base + folder + text)
    }

    /// Whether both URLs have the same origin: scheme, host and port.
    public func hasSameOrigin(as other: RequestURL) -> Bool {
        scheme == other.scheme && host == other.host && effectivePort == other.effectivePort
    }

    /// Whether the reference begins with a scheme: a letter, then letters, digits, `+`, `-`, `.`, then `:`.
    private static func hasScheme(_ reference: Substring.UTF8View) -> Bool {
        for (offset, byte) in reference.enumerated() {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"): continue
            case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "+"), UInt8(ascii: "-"), UInt8(ascii: "."):
                if offset == 0 { return false }
            case UInt8(ascii: ":"): return offset > 0
            default: return false
            }
        }
        return false
    }
}
