/// An absolute http or https URL, parsed once and the same for every transport.
///
/// What is written out is pure ASCII: in path and query, whatever RFC 3986 does not allow there is percent-encoded as
/// UTF-8, scheme and host are lower-cased, dot segments are resolved (RFC 3986 §5.2.4), an empty path becomes `/`, and
/// the fragment, which is never sent, is dropped.
///
/// A host name outside ASCII is converted to its `xn--` form, by UTS 46 as libcurl does it (IDNA2008, non-transitional;
/// emoji by the transitional way), where libidn2 is found at run time; it usually is where libcurl is. The result is
/// then checked like any other name.
///
/// Refused, each with an error that says where: other schemes; relative references; user and password, which the text
/// of a request may have (``separatingCredentials(from:)``); control characters and `\`; a `%` that is not followed by
/// two hexadecimal digits; host names outside ASCII that are not valid, or that stand for an address; numeric hosts
/// other than four decimal numbers (`0x7f.1`, `127.1`), which resolvers read in different ways; IPv6 zones; ports
/// outside 1…65535; more than 64 KiB.
public struct RequestURL: Sendable, Hashable, CustomStringConvertible {
    /// `http` or `https`.
    public let scheme: String
    /// The host, lower-cased; an IPv6 address in brackets.
    public let host: String
    /// The port if one was written; `nil` means the scheme's own.
    public let port: Int?
    /// The path with its leading `/`, percent-encoded.
    public let path: String
    /// What follows `?`, percent-encoded; `nil` without a `?`. The `?` of an empty one is not sent from libcurl 8.8 on,
    /// over either transport.
    public let query: String?
    /// The URL as it is sent.
    public let absoluteString: String

    /// The largest URL that is accepted, in bytes, both as it is written and as it is sent.
    public static let maximumBytes = 65_536

    /// Parses and checks a URL.
    /// - Throws: ``NetworkError`` with ``NetworkError/Code/invalidURL``.
    public init(_ string: String) throws {
        if let plain = PlainURL.parse(string) {
            self = plain
        } else {
            var parser = RequestURLParser(string)
            let (url, userinfo) = try parser.parse()
            guard userinfo == nil else {
                throw NetworkError.unusableURL(
                    "user and password in the URL are accepted in the text of a request alone")
            }
            self = url
        }
    }

    /// - Parameter text: All of it, where that is known.
    init(scheme: String, host: String, port: Int?, path: String, query: String?, text: String? = nil) {
        self.scheme = scheme
        self.host = host
        self.port = port
        self.path = path
        self.query = query
        absoluteString = text ?? Self.text(scheme, host, port, path, query)
    }

    private static func text(_ scheme: String, _ host: String, _ port: Int?, _ path: String, _ query: String?) -> String
    {
        var text = scheme
        text += "://"
        text += host
        if let port {
            text += ":"
            text += String(port)
        }
        text += path
        if let query {
            text += "?"
            text += query
        }
        return text
    }

    /// URLs are equal when they are sent alike.
    public static func == (first: RequestURL, second: RequestURL) -> Bool {
        first.absoluteString == second.absoluteString
    }

    /// Hashes what is compared.
    public func hash(into hasher: inout Hasher) { hasher.combine(absoluteString) }

    /// The URL, if it can be sent: what is written out may be longer than what was read.
    /// - Throws: ``NetworkError`` with ``NetworkError/Code/invalidURL``.
    func withinLimit() throws -> RequestURL {
        let bytes = absoluteString.utf8.count
        guard bytes <= Self.maximumBytes else {
            throw NetworkError.unusableURL(
                "it has \(bytes) bytes as it is sent; at most \(Self.maximumBytes) are accepted")
        }
        return self
    }

    /// The URL with another query, which must be percent-encoded already.
    func replacingQuery(_ query: String?) -> RequestURL {
        RequestURL(scheme: scheme, host: host, port: port, path: path, query: query)
    }

    /// Host and port as the `Host` header field has them.
    public var authority: String { port.map { "\(host):\($0)" } ?? host }

    /// The port that is connected to.
    public var effectivePort: Int { port ?? (scheme == "https" ? 443 : 80) }

    /// Whether the host is an IPv6 address.
    public var isIPv6Literal: Bool { host.utf8.first == UInt8(ascii: "[") }

    /// Whether the host is an address: the parser takes no other numeric names.
    package var isAddress: Bool {
        isIPv6Literal
            || host.utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) || $0 == UInt8(ascii: ".") }
    }

    /// The URL without the values that may be secrets: the query is left out. For logs and errors.
    public var description: String { "\(scheme)://\(authority)\(path)\(query == nil ? "" : "?…")" }
}
