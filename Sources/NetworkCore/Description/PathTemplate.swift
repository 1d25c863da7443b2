/// A path with names in braces, such as `users/{id}/orders`.
enum PathTemplate {
    /// Returns the path with each name replaced by its value, encoded as a part of one segment.
    /// - Throws: ``NetworkError/Code/invalidParameters`` for a name without a value, a value without a name, and a
    ///   value that is empty or a dot segment.
    static func filled(
        _ path: String, with values: [String: any CustomStringConvertible & Sendable]
    ) throws -> String {
        guard !values.isEmpty else { return path }
        var (filled, rest, unused) = ("", path[...], Set(values.keys))
        while let open = rest.utf8.firstIndex(of: UInt8(ascii: "{")),
            let close = rest[open...].utf8.firstIndex(of: UInt8(ascii: "}"))
        {
            let name = String(rest[rest.index(after: open)..<close])
            guard let value = values[name]?.description else { throw refused("it has no value for {\(name)}", path) }
            guard !["", ".", ".."].contains(value) else {
                throw refused("the value of {\(name)} is '\(value)', which is no segment of a path", path)
            }
            filled += rest[..<open] + RequestURL.segment(value)
            rest = rest[rest.index(after: close)...]
            unused.remove(name)
        }
        if let name = unused.min() { throw refused("it has no {\(name)} for that value", path) }
        return filled + rest
    }

    /// Returns the path as it is written, from its first slash on, without a query.
    static func name(of path: String) -> String {
        let hierarchy = path.prefix { $0 != "?" && $0 != "#" }
        guard let scheme = hierarchy.firstRange(of: "://") else {
            return hierarchy.utf8.first == UInt8(ascii: "/") ? String(hierarchy) : "/\(hierarchy)"
        }
        let authority = hierarchy[scheme.upperBound...]
        return authority.firstIndex(of: "/").map { String(authority[$0...]) } ?? "/"
    }

    private static func refused(_ problem: String, _ path: String) -> NetworkError {
        NetworkError.refused(
            .invalidParameters, "pathParameters of '\(Redaction().url(path))': \(Redaction.visible(problem))")
    }
}
