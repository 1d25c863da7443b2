/// The user and the password in a URL, before the `@` (RFC 3986 §3.2.1).
struct Userinfo {
    let user: String
    let password: TransportOptions.Secret

    /// Parses the text before the last `@` of an authority. No error quotes that text.
    init(_ slice: ArraySlice<UInt8>) throws {
        guard !slice.contains(where: { "@[]".utf8.contains($0) }) else {
            throw NetworkError.unusableURL("user and password in the URL have '@', '[' or ']'; write %40, %5B, %5D")
        }
        // The user ends at the first colon; the password may contain more.
        let user = slice.prefix { $0 != UInt8(ascii: ":") }
        self.user = try Self.decoded(user)
        password = TransportOptions.Secret(try Self.decoded(slice.dropFirst(user.count + 1)))
        guard !self.user.utf8.contains(UInt8(ascii: ":")) else {
            throw NetworkError.unusableURL("the user in the URL has ':', which ends it (RFC 7617 §2)")
        }
    }

    /// The credentials for Basic authentication; `nil` if the text before the `@` is empty or only a colon.
    var authentication: TransportOptions.Authentication? {
        user.isEmpty && password.value.isEmpty ? nil : .basic(user: user, password: password)
    }

    private static func decoded(_ slice: ArraySlice<UInt8>) throws -> String {
        guard let text = PercentEncoding.decoded(String(decoding: slice, as: UTF8.self)) else {
            throw NetworkError.unusableURL(
                "user and password in the URL have a '%' without two hexadecimal digits, or are not UTF-8 when decoded")
        }
        guard text.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F }) else {
            throw NetworkError.unusableURL("user and password in the URL have a control character")
        }
        return text
    }
}

/// The user and the password from a URL, with the origin for which they are meant.
struct URLCredentials: Sendable, Hashable {
    private let origin: RequestURL
    /// The value of `Authorization`. The user name may be a key, so it is hidden like the password.
    private let value: TransportOptions.Secret
    /// Whether they are of the client's base URL, and not of the request's own.
    var belongToClient = false

    /// Creates the credentials of a URL, or returns `nil` if it has none.
    init?(_ authentication: TransportOptions.Authentication?, for url: RequestURL) {
        guard let value = authentication?.fieldValue else { return nil }
        self.value = TransportOptions.Secret(value)
        origin = RequestURL(scheme: url.scheme, host: url.host, port: url.port, path: "/", query: nil)
    }

    /// Returns the value of `Authorization` for a request, or `nil` if the request goes to another origin.
    func fieldValue(for url: RequestURL) -> String? {
        url.hasSameOrigin(as: origin) ? value.value : nil
    }
}
