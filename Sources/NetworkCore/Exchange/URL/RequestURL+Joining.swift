extension RequestURL {
    /// Appends a path to a base URL. The result is always below the base: it has the same scheme, host and port, and
    /// its path begins with the base's path.
    ///
    /// | base | path | result |
    /// | --- | --- | --- |
    /// | `http://h/v1` or `http://h/v1/` | `users` or `/users` | `http://h/v1/users`: one slash at the seam |
    /// | `http://h/v1` | the empty text | `http://h/v1`, as it is |
    /// | `http://h/v1?key=1` | `users?page=2` | `http://h/v1/users?key=1&page=2`: the base's query first |
    /// | `http://h/v1#a` | `users#b` | `http://h/v1/users`: fragments are never sent |
    /// | `http://h/v1` | `a/../b` | `http://h/v1/b` |
    /// | `http://h/v1` | `../admin` | refused: it leaves its base |
    /// | `http://h/v1` | `a/%2e%2e/b` | refused: it hides a `..` |
    /// | `http://h/v1` | `http://other/` | refused: a whole URL needs no base |
    /// | `http://h/v1` | `//other/x` | `http://h/v1//other/x`: never another host |
    ///
    /// Characters that are not allowed in a path or a query are percent-encoded; existing escapes stay. See
    /// ``RequestURL``.
    ///
    /// Servers differ in what they treat as `..`. A path is therefore refused if it contains a `..` that only decoding
    /// reveals, wherever it leads: written with `%2e`, between `%2f` or `%5c`, encoded twice or more often, or followed
    /// by parameters and the like (`..;a=b`, `..%3b`, `..%00`, `..%3f`, `..%23`). Overlong UTF-8 (`%c0%ae`), characters
    /// that only look like dots, and spaces after the dots are not checked, because no current server treats them as
    /// `..`.
    /// - Throws: ``NetworkError`` with ``NetworkError/Code/invalidURL``.
    public init(base: String, path: String) throws {
        self = try Self(base).appending(path)
    }

    /// Returns a text as one segment of a path, whatever is in it: `"accounts/\(RequestURL.segment(id))"`.
    ///
    /// Every byte but letters, digits, `-`, `.`, `_` and `~` is percent-encoded
    /// ([RFC 3986 §2.3](https://www.rfc-editor.org/rfc/rfc3986#section-2.3)), so that `/`, `?`, `#` and `%` belong to
    /// the segment. `.` and `..` become `%2E` and `%2E%2E`; below a base URL a request with `%2E%2E` is refused.
    public static func segment(_ text: String) -> String {
        switch text {
        case ".": "%2E"
        case "..": "%2E%2E"
        default: PercentEncoding.component(text)
        }
    }

    /// Returns the URL with a path and a query appended to its own. The text is never read as anything else.
    func appending(_ text: String) throws -> RequestURL {
        guard text.utf8.count <= Self.maximumBytes else {
            throw NetworkError.unusableURL("the path has more than \(Self.maximumBytes) bytes")
        }
        let reference = Reference(text)
        if reference.hasScheme {
            throw NetworkError.unusableURL(
                "the path is a whole URL, and there is a base URL; write RequestData(url:) to send there")
        }
        if reference.leavesItsStart { throw NetworkError.unusableURL("the path leaves its base with '..'") }
        if reference.hidesParent {
            throw NetworkError.unusableURL("the path hides a '..', with which a server may leave the base")
        }
        var joined = path
        if !reference.hierarchy.isEmpty {
            if joined.utf8.last == UInt8(ascii: "/") { joined.removeLast() }
            joined += reference.hierarchy.utf8.first == UInt8(ascii: "/") ? "" : "/"
        }
        let added = reference.hierarchy + (reference.query.isEmpty ? "" : "?\(reference.query)")
        var parser = RequestURLParser(joined + added)
        let target = try parser.parseTarget()
        let queries = [query ?? "", target.query ?? ""].filter { !$0.isEmpty }
        let joinedURL = RequestURL(
            scheme: scheme, host: host, port: port, path: target.path,
            query: queries.isEmpty ? nil : queries.joined(separator: "&"))
        return try joinedURL.withinLimit()
    }

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

    /// Whether what the URL carries is protected from reading and change on the way: it is `https`, or leads to this
    /// machine (`localhost` and its subdomains, 127.0.0.0/8, `[::1]`).
    /// [Secure Contexts §3.1](https://www.w3.org/TR/secure-contexts/#is-origin-trustworthy)
    var isTrustworthy: Bool {
        if scheme == "https" { return true }
        let name = host.hasByteSuffix(".") ? String(host.dropLast()) : host
        if name == "localhost" || name.hasByteSuffix(".localhost") { return true }
        guard let address = AddressPolicy.Address(ProxyExceptions.withoutBrackets(host))?.bytes else { return false }
        return address.count == 4 ? address[0] == 127 : address == Array(repeating: 0, count: 15) + [1]
    }

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

/// A path with its query, split at the first `?` and `#`. Split by bytes, because a combining mark after a `/` would
/// form another Character.
private struct Reference {
    let hierarchy: Substring
    let query: Substring

    init(_ text: String) {
        let withoutFragment = text.utf8.prefix { $0 != UInt8(ascii: "#") }
        let hierarchy = withoutFragment.prefix { $0 != UInt8(ascii: "?") }
        self.hierarchy = Substring(hierarchy)
        query = Substring(withoutFragment.dropFirst(hierarchy.count + 1))
    }

    var hasScheme: Bool {
        let name = hierarchy.utf8.prefix { $0 != UInt8(ascii: ":") && $0 != UInt8(ascii: "/") }
        return !name.isEmpty && hierarchy.utf8.dropFirst(name.count).starts(with: "://".utf8)
    }

    private var segments: [Substring.UTF8View] {
        let relative = hierarchy.utf8.first == UInt8(ascii: "/") ? hierarchy.utf8.dropFirst() : hierarchy.utf8
        return relative.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
    }

    /// Whether a `..` leads above the start of the path. These are the `..` that are resolved before anything is sent.
    var leavesItsStart: Bool {
        var depth = 0
        for segment in segments {
            if segment.elementsEqual("..".utf8) {
                depth -= 1
                if depth < 0 { return true }
            } else if !segment.elementsEqual(".".utf8) {
                depth += 1
            }
        }
        return false
    }

    /// Whether a segment that is sent as it is may be, or contain, a `..` for the server.
    var hidesParent: Bool {
        segments.contains { segment in
            guard segment.contains(where: { "%;".utf8.contains($0) }) else { return false }
            let decoded = PercentEncoding.decodedWholly(segment)
            return decoded.split(whereSeparator: { "/\\".utf8.contains($0) }).contains { part in
                part.prefix { !";?#\0".utf8.contains($0) }.elementsEqual("..".utf8)
            }
        }
    }
}
