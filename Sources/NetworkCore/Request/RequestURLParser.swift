#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// Reads a URL byte by byte and says where it stops making sense.
struct RequestURLParser {
    private let bytes: [UInt8]
    private var at = 0

    init(_ string: String) { bytes = Array(string.utf8) }

    mutating func parse() throws -> RequestURL {
        guard !bytes.isEmpty else { throw invalid("it is empty") }
        guard bytes.count <= RequestURL.maximumBytes else {
            throw invalid("it has \(bytes.count) bytes; at most \(RequestURL.maximumBytes) are accepted")
        }
        for (offset, byte) in bytes.enumerated() where byte < 0x20 || byte == 0x7F {
            throw invalid("control character 0x\(hex(byte)) at byte \(offset)")
        }
        if let offset = bytes.firstIndex(of: UInt8(ascii: "\\")) { throw invalid("'\\' at byte \(offset)") }
        let scheme = try parseScheme()
        let (host, port) = try parseAuthority()
        let path = try encode(take { $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") })
        var query: String?
        if at < bytes.count, bytes[at] == UInt8(ascii: "?") {
            at += 1
            query = try encode(take { $0 != UInt8(ascii: "#") })
        }
        return RequestURL(
            scheme: scheme,
            host: host,
            port: port,
            path: Self.removingDotSegments(path.isEmpty ? "/" : path),
            query: query
        )
    }

    // MARK: Scheme

    private mutating func parseScheme() throws -> String {
        let name = take { $0.isLetter || $0.isDigit || "+-.".utf8.contains($0) }
        guard at < bytes.count, bytes[at] == UInt8(ascii: ":"), name.first?.isLetter == true else {
            throw invalid("it has no scheme; an absolute URL starts with http:// or https://")
        }
        let scheme = String(decoding: name, as: UTF8.self).lowercased()
        guard scheme == "http" || scheme == "https" else {
            throw invalid("the scheme '\(scheme)' is not supported; http and https are")
        }
        guard bytes[at...].starts(with: "://".utf8) else { throw invalid("'//' is missing after '\(scheme):'") }
        at += 3
        return scheme
    }

    // MARK: Host and port

    private mutating func parseAuthority() throws -> (host: String, port: Int?) {
        let start = at
        let authority = take { !"/?#".utf8.contains($0) }
        if authority.contains(UInt8(ascii: "@")) {
            throw invalid("user and password in the URL are not accepted; send an Authorization header field")
        }
        let host: String
        var rest: ArraySlice<UInt8>
        if authority.first == UInt8(ascii: "[") {
            guard let end = authority.firstIndex(of: UInt8(ascii: "]")) else { throw invalid("']' is missing") }
            host = try Self.checkIPv6(authority[(authority.startIndex + 1)..<end])
            rest = authority[(end + 1)...]
        } else {
            let end = authority.firstIndex(of: UInt8(ascii: ":")) ?? authority.endIndex
            host = try checkName(authority[..<end], at: start)
            rest = authority[end...]
        }
        guard let colon = rest.popFirst() else { return (host, nil) }
        guard colon == UInt8(ascii: ":") else { throw invalid("':' and a port are expected after '\(host)'") }
        if rest.isEmpty { return (host, nil) }
        guard rest.allSatisfy(\.isDigit), let port = Int(String(decoding: rest, as: UTF8.self)),
            (1...65_535).contains(port)
        else { throw invalid("the port is not a number from 1 to 65535") }
        return (host, port)
    }

    private static func checkIPv6(_ slice: ArraySlice<UInt8>) throws -> String {
        let text = String(decoding: slice, as: UTF8.self)
        if text.contains("%") { throw invalid("IPv6 zones are not accepted in a URL") }
        var address = in6_addr()
        guard inet_pton(AF_INET6, text, &address) == 1 else { throw invalid("'[\(text)]' is not an IPv6 address") }
        return "[\(text.lowercased())]"
    }

    private func checkName(_ slice: ArraySlice<UInt8>, at start: Int) throws -> String {
        guard !slice.isEmpty else { throw Self.invalid("the host is missing") }
        for (offset, byte) in slice.enumerated() where !(byte.isLetter || byte.isDigit || "-._~".utf8.contains(byte)) {
            if byte >= 0x80 {
                throw Self.invalid("the host is not ASCII at byte \(start + offset); write its xn-- (IDNA) form")
            }
            throw Self.invalid("'\(Character(Unicode.Scalar(byte)))' in the host, at byte \(start + offset)")
        }
        guard slice.count <= 254 else { throw Self.invalid("the host is longer than 253 characters") }
        let host = String(decoding: slice, as: UTF8.self).lowercased()
        let labels = host.split(separator: ".", omittingEmptySubsequences: false)
        let named = labels.last == "" ? labels.dropLast() : labels[...]
        if named.isEmpty || named.contains("") { throw Self.invalid("the host has an empty label") }
        if named.contains(where: { $0.utf8.count > 63 }) {
            throw Self.invalid("a label of the host is longer than 63 characters")
        }
        if let last = named.last, last.utf8.allSatisfy(\.isDigit) || last.hasPrefix("0x") {
            let isDottedQuad =
                named.count == 4 && labels.count == 4
                && named.allSatisfy { (UInt8($0) != nil) && ($0 == "0" || !$0.hasPrefix("0")) }
            guard isDottedQuad else {
                throw Self.invalid("'\(host)' looks like a number; an IPv4 address has four decimal numbers")
            }
        }
        return host
    }

    // MARK: Path and query

    /// Percent-encodes what may not stand as it is, and leaves what is encoded already.
    private func encode(_ slice: ArraySlice<UInt8>) throws -> String {
        var text: [UInt8] = []
        text.reserveCapacity(slice.count)
        for (offset, byte) in zip(slice.indices, slice) {
            if byte == UInt8(ascii: "%") {
                guard offset + 2 < slice.endIndex, slice[offset + 1].isHexDigit, slice[offset + 2].isHexDigit else {
                    throw Self.invalid("'%' without two hexadecimal digits at byte \(offset); a plain '%' is '%25'")
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

    /// RFC 3986 §5.2.4.
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

    // MARK: Helpers

    private mutating func take(while condition: (UInt8) -> Bool) -> ArraySlice<UInt8> {
        let start = at
        while at < bytes.count, condition(bytes[at]) { at += 1 }
        return bytes[start..<at]
    }

    private func hex(_ byte: UInt8) -> String { String(byte, radix: 16, uppercase: true) }

    private func invalid(_ reason: String) -> NetworkError { Self.invalid(reason) }

    private static func invalid(_ reason: String) -> NetworkError {
        NetworkError(.invalidURL, "the URL can't be used: \(reason)", phase: .preparing)
    }
}

extension UInt8 {
    fileprivate var isDigit: Bool { (0x30...0x39).contains(self) }
    fileprivate var isLetter: Bool { (0x41...0x5A).contains(self & 0xDF) }
    fileprivate var isHexDigit: Bool { isDigit || (0x41...0x46).contains(self & 0xDF) }

    /// pchar, `/`, `?` of RFC 3986. Anything more, such as `[` or `|`, makes Foundation encode the whole URL once more.
    fileprivate var isAllowedInPathOrQuery: Bool {
        isLetter || isDigit || "-._~!$&'()*+,;=:@/?".utf8.contains(self)
    }
}
