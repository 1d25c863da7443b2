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
    /// | `http://h/v1` | `../admin` | refused: it leaves its base; `%2e%2e` counts as `..` |
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
        var text = base.hierarchy
        if !path.hierarchy.isEmpty {
            if text.last == "/" { text = text.dropLast() }
            text += path.hierarchy.first == "/" ? path.hierarchy : "/" + path.hierarchy
        }
        let query = [base.query, path.query].filter { !$0.isEmpty }.joined(separator: "&")
        try self.init(query.isEmpty ? String(text) : "\(text)?\(query)")
    }

    /// A reference, split at the first `?` and `#`.
    private struct Parts {
        let hierarchy: Substring
        let query: Substring

        init(_ text: String) {
            let withoutFragment = text.prefix { $0 != "#" }
            hierarchy = withoutFragment.prefix { $0 != "?" }
            query = withoutFragment.dropFirst(hierarchy.count + 1)
        }

        var hasScheme: Bool {
            guard let colon = hierarchy.firstIndex(of: ":"), hierarchy[colon...].hasPrefix("://") else { return false }
            let name = hierarchy[..<colon].unicodeScalars
            return name.first.map { $0.properties.isAlphabetic } == true && !name.contains("/")
        }

        /// Whether `..` climbs above where the path begins.
        var leavesItsStart: Bool {
            var depth = 0
            let relative = hierarchy.first == "/" ? hierarchy.dropFirst() : hierarchy
            for segment in relative.split(separator: "/", omittingEmptySubsequences: false) {
                switch segment.lowercased().replacing("%2e", with: ".") {
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
