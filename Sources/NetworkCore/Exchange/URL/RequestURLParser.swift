/// A parser that reads a URL byte by byte and reports where it is invalid.
struct RequestURLParser {
    private let bytes: [UInt8]
    private var at = 0

    init(_ string: String) { bytes = Array(string.utf8) }

    mutating func parse() throws -> (url: RequestURL, userinfo: Userinfo?) {
        guard !bytes.isEmpty else { throw NetworkError.unusableURL("it is empty") }
        try checkBytes()
        let scheme = try parseScheme()
        let (userinfo, host, port) = try parseAuthority()
        let target = try parsePathAndQuery()
        let url = RequestURL(scheme: scheme, host: host, port: port, path: target.path, query: target.query)
        return (try url.withinLimit(), userinfo)
    }

    mutating func parseTarget() throws -> (path: String, query: String?) {
        try checkBytes()
        return try parsePathAndQuery()
    }

    private func checkBytes() throws {
        guard bytes.count <= RequestURL.maximumBytes else {
            throw NetworkError.unusableURL(
                "it has \(bytes.count) bytes; at most \(RequestURL.maximumBytes) are accepted")
        }
        for (offset, byte) in bytes.enumerated() where byte < 0x20 || byte == 0x7F {
            let hex = String(byte, radix: 16, uppercase: true)
            throw NetworkError.unusableURL("control character 0x\(hex) at byte \(offset)")
        }
        if let offset = bytes.firstIndex(of: UInt8(ascii: "\\")) {
            throw NetworkError.unusableURL("'\\' at byte \(offset)")
        }
    }

    // MARK: Scheme and authority

    private mutating func parseScheme() throws -> String {
        let name = take { $0.isLetterOrDigit || "+-.".utf8.contains($0) }
        guard at < bytes.count, bytes[at] == UInt8(ascii: ":"), name.first?.isLetter == true else {
            throw NetworkError.unusableURL("it has no scheme; an absolute URL starts with http:// or https://")
        }
        let scheme = String(decoding: name, as: UTF8.self).lowercased()
        guard scheme == "http" || scheme == "https" else {
            // Before an `@` it may be a user name, or a key that takes its place.
            let shown = bytes.contains(UInt8(ascii: "@")) || name.count > 32 ? "its scheme" : "the scheme '\(scheme)'"
            throw NetworkError.unusableURL("\(shown) is not supported; http and https are")
        }
        guard bytes[at...].starts(with: "://".utf8) else {
            throw NetworkError.unusableURL("'//' is missing after '\(scheme):'")
        }
        at += 3
        return scheme
    }

    private mutating func parseAuthority() throws -> (userinfo: Userinfo?, host: String, port: Int?) {
        let start = at
        var authority = take { !"/?#".utf8.contains($0) }
        var userinfo: Userinfo?
        if let end = authority.lastIndex(of: UInt8(ascii: "@")) {
            userinfo = try Userinfo(authority[..<end])
            authority = authority[(end + 1)...]
        }
        let host: String
        var rest: ArraySlice<UInt8>
        if authority.first == UInt8(ascii: "[") {
            guard let end = authority.firstIndex(of: UInt8(ascii: "]")) else {
                throw NetworkError.unusableURL("']' is missing")
            }
            host = try HostName.ipv6(authority[(authority.startIndex + 1)..<end])
            rest = authority[(end + 1)...]
        } else {
            let end = authority.firstIndex(of: UInt8(ascii: ":")) ?? authority.endIndex
            host = try HostName.name(authority[..<end], at: userinfo == nil ? start : authority.startIndex)
            rest = authority[end...]
        }
        guard let colon = rest.popFirst() else { return (userinfo, host, nil) }
        guard colon == UInt8(ascii: ":") else {
            throw NetworkError.unusableURL("':' and a port are expected after '\(host)'")
        }
        if rest.isEmpty { return (userinfo, host, nil) }
        guard let port = Int(asciiDigits: rest), (1...65_535).contains(port) else {
            throw NetworkError.unusableURL("the port is not a number from 1 to 65535")
        }
        return (userinfo, host, port)
    }

    // MARK: Path and query

    private mutating func parsePathAndQuery() throws -> (path: String, query: String?) {
        let path = try encode(take { $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") })
        var query: String?
        if at < bytes.count, bytes[at] == UInt8(ascii: "?") {
            at += 1
            query = try encode(take { $0 != UInt8(ascii: "#") })
        }
        return (Self.removingDotSegments(path.isEmpty ? "/" : path), query)
    }

    /// Percent-encodes characters that are not allowed and leaves existing escapes as they are.
    private func encode(_ slice: ArraySlice<UInt8>) throws -> String {
        var text: [UInt8] = []
        text.reserveCapacity(slice.count)
        for (offset, byte) in zip(slice.indices, slice) {
            if byte == UInt8(ascii: "%") {
                guard offset + 2 < slice.endIndex, slice[offset + 1].hexDigit != nil, slice[offset + 2].hexDigit != nil
                else {
                    throw NetworkError.unusableURL(
                        "'%' without two hexadecimal digits at byte \(offset); a plain '%' is '%25'")
                }
                text.append(byte)
            } else if byte.isAllowedInPathOrQuery {
                text.append(byte)
            } else {
                text += PercentEncoding.encoded(byte)
            }
        }
        return String(decoding: text, as: UTF8.self)
    }

    static func removingDotSegments(_ path: String) -> String {
        guard path.contains("/.") else { return path }
        var output: [Substring] = []
        let segments = path.split(separator: "/", omittingEmptySubsequences: false).dropFirst()
        for (offset, segment) in segments.enumerated() {
            let isLast = offset == segments.count - 1
            switch segment {
            case ".": if isLast { output.append("") }
            case "..":
                if !output.isEmpty { output.removeLast() }
                if isLast { output.append("") }
            default: output.append(segment)
            }
        }
        return "/" + output.joined(separator: "/")
    }

    private mutating func take(while condition: (UInt8) -> Bool) -> ArraySlice<UInt8> {
        let start = at
        while at < bytes.count, condition(bytes[at]) { at += 1 }
        return bytes[start..<at]
    }
}

extension NetworkError {
    /// Returns the error for a URL that can't be used. The reason must not contain secrets.
    static func unusableURL(_ reason: String) -> NetworkError {
        NetworkError.refused(.invalidURL, "the URL can't be used: \(reason)")
    }
}

extension UInt8 {
    /// The characters `pchar`, `/` and `?` of RFC 3986.
    fileprivate var isAllowedInPathOrQuery: Bool {
        isLetterOrDigit || "-._~!$&'()*+,;=:@/?".utf8.contains(self)
    }
}
