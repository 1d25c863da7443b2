public import FoundationEssentials

/// An absolute `http` or `https` URL, parsed once and the same for every transport.
///
/// The text of the URL is pure ASCII. In path and query, every character that RFC 3986 does not allow there is
/// percent-encoded as UTF-8. Scheme and host are in lower case, dot segments are resolved
/// ([RFC 3986 §5.2.4](https://www.rfc-editor.org/rfc/rfc3986#section-5.2.4)), an empty path becomes `/`, and the
/// fragment, which is never sent, is removed.
///
/// A host name outside ASCII is converted to its `xn--` form by UTS 46, as libcurl does it (IDNA2008, non-transitional;
/// emoji by transitional processing), if libidn2 is found at run time. Usually it is present wherever libcurl is. The
/// result is then checked like any other name.
///
/// The following are refused, with an error that names the place: other schemes; relative references; user and
/// password, which only the text of a request may contain (``RequestData``, ``TransportRequest``); control characters
/// and `\`; a `%` that is not followed by two hexadecimal digits; host names outside ASCII that are not valid or that
/// map to an address; numeric hosts other than four decimal numbers (`0x7f.1`, `127.1`), which resolvers interpret in
/// different ways; IPv6 zones; ports outside 1…65535; URLs of more than 64 KiB.
public struct RequestURL: Sendable, Hashable, SafelyPrinted {
    /// The scheme: `http` or `https`.
    public let scheme: String
    /// The host, in lower case; an IPv6 address in brackets.
    public let host: String
    /// The port in the URL; `nil` means the scheme's default port.
    public let port: Int?
    /// The path with its leading `/`, percent-encoded.
    public let path: String
    /// The text after `?`, percent-encoded; `nil` without a `?`. From libcurl 8.8 on, the `?` of an empty query is not
    /// sent, over either transport.
    public let query: String?
    /// The path with the query, as a request line has them
    /// ([RFC 9112 §3.2.1](https://www.rfc-editor.org/rfc/rfc9112#section-3.2.1)).
    public var target: String { query.map { "\(path)?\($0)" } ?? path }
    /// The complete URL as it is sent.
    public let absoluteString: String

    /// The maximum length of a URL, in bytes, both as written and as sent.
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
                    "user and password in the URL are accepted only in the text of a request")
            }
            self = url
        }
    }

    /// Creates a URL from Foundation's.
    /// - Throws: ``NetworkError`` with ``NetworkError/Code/invalidURL`` for one that is not an absolute `http` or
    ///   `https` URL, or that has a user.
    public init(_ url: URL) throws { try self.init(url.absoluteString) }

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

    /// Returns whether two URLs are sent as the same text.
    public static func == (first: RequestURL, second: RequestURL) -> Bool {
        first.absoluteString == second.absoluteString
    }

    /// Hashes the text that is compared.
    public func hash(into hasher: inout Hasher) { hasher.combine(absoluteString) }

    /// Returns the URL if it is short enough to send: the encoded text may be longer than the original.
    func withinLimit() throws -> RequestURL {
        let bytes = absoluteString.utf8.count
        guard bytes <= Self.maximumBytes else {
            throw NetworkError.unusableURL(
                "it has \(bytes) bytes as it is sent; at most \(Self.maximumBytes) are accepted")
        }
        return self
    }

    /// Returns the URL with another query, which must be percent-encoded already.
    func replacingQuery(_ query: String?) -> RequestURL {
        RequestURL(scheme: scheme, host: host, port: port, path: path, query: query)
    }

    /// The host and the port, as in the `Host` header field.
    public var authority: String { port.map { "\(host):\($0)" } ?? host }

    /// The port to connect to: the URL's, or else 443 for `https` and 80 for `http`.
    public var effectivePort: Int { port ?? (scheme == "https" ? 443 : 80) }

    package var isIPv6Literal: Bool { host.utf8.first == UInt8(ascii: "[") }

    /// Whether the host is an address. The parser accepts no other numeric names.
    package var isAddress: Bool { HostName.isAddress(host) }

    /// The URL with the query, which may contain secrets, replaced by `…`. For logs and errors.
    public var description: String { "\(scheme)://\(authority)\(path)\(query == nil ? "" : "?…")" }
}
