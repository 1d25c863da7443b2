extension RequestURL {
    /// A base URL with a path appended. The result is always below its base: the same scheme, host and port, and a path
    /// that begins with the base's.
    ///
    /// | base | path | result |
    /// | --- | --- | --- |
    /// | `http://h/v1` or `http://h/v1/` | `users` or `/users` | `http://h/v1/users`: one slash at the seam |
    /// | `http://h/v1` | the empty text | `http://h/v1`, as it is |
    /// | `http://h/v1?key=1` | `users?page=2` | `http://h/v1/users?key=1&page=2`: the base's query first |
    /// | `http://h/v1#a` | `users#b` | `http://h/v1/users`: fragments are never sent |
    /// | `http://h/v1` | `a/../b` | `http://h/v1/b` |
    /// | `http://h/v1` | `../admin` | refused: it leaves its base; `%2e` counts as `.`, and `%2f` as `/` |
    /// | `http://h/v1` | `http://other/` | refused: a whole URL needs no base |
    /// | `http://h/v1` | `//other/x` | `http://h/v1//other/x`: never another host |
    ///
    /// What is not plain in path and query is percent-encoded, and what is encoded already stays: see ``RequestURL``.
    /// - Throws: ``NetworkError`` with ``NetworkError/Code/invalidURL``.
    public init(base: String, path: String) throws {
        let base = Parts(base)
        let path = Parts(path)
        if path.hasScheme {
            throw Self.unjoinable("the path is a whole URL; leave out the base to send there")
        }
        if path.leavesItsStart { throw Self.unjoinable("the path leaves its base by '..'") }
        var text = String(base.hierarchy)
        if !path.hierarchy.isEmpty {
            if text.utf8.last == Parts.slash { text.removeLast() }
            text += path.hierarchy.utf8.first == Parts.slash ? path.hierarchy : "/" + path.hierarchy
        }
        let query = [base.query, path.query].filter { !$0.isEmpty }.joined(separator: "&")
        try self.init(query.isEmpty ? text : "\(text)?\(query)")
    }

    /// A reference, split at the first `?` and `#`. Bytes are looked at, not characters: a combining mark after a `/` would
    /// make another character of it.
    private struct Parts {
        static let slash = UInt8(ascii: "/")
        let hierarchy: Substring
        let query: Substring

        init(_ text: String) {
            let withoutFragment = text.utf8.prefix { $0 != UInt8(ascii: "#") }
            let hierarchy = withoutFragment.prefix { $0 != UInt8(ascii: "?") }
            self.hierarchy = Substring(hierarchy)
            query = Substring(withoutFragment.dropFirst(hierarchy.count + 1))
        }

        var hasScheme: Bool {
            let name = hierarchy.utf8.prefix { $0 != UInt8(ascii: ":") && $0 != Self.slash }
            return !name.isEmpty && hierarchy.utf8.dropFirst(name.count).starts(with: "://".utf8)
        }

        /// Whether `..` climbs above where the path begins, as it is written or as a server may decode it.
        var leavesItsStart: Bool {
            let decoded = PercentEncoding.decoded(hierarchy) ?? String(hierarchy)
            return Self.climbs(hierarchy.utf8) || Self.climbs(decoded.utf8)
        }

        private static func climbs(_ path: some BidirectionalCollection<UInt8>) -> Bool {
            var depth = 0
            let relative = path.first == slash ? path.dropFirst() : path.dropFirst(0)
            for segment in relative.split(separator: slash, omittingEmptySubsequences: false) {
                switch PercentEncoding.decoded(String(decoding: segment, as: UTF8.self)) {
                case ".": break
                case "..":
                    depth -= 1
                    if depth < 0 { return true }
                default: depth += 1
                }
            }
            return false
        }
    }

    private static func unjoinable(_ reason: String) -> NetworkError {
        NetworkError(.invalidURL, "the URL can't be used: \(reason)", phase: .preparing)
    }
}
