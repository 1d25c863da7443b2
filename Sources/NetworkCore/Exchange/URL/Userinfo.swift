/// User and password as they stand in a URL, before the `@` (RFC 3986 §3.2.1).
struct Userinfo {
    let user: String
    let password: TransportOptions.Secret

    /// Reads what stands before the last `@` of an authority. No error says what that was.
    init(_ slice: ArraySlice<UInt8>) throws {
        guard !slice.contains(where: { "@[]".utf8.contains($0) }) else {
            throw NetworkError.unusableURL("user and password in the URL have '@', '[' or ']'; these are %40, %5B, %5D")
        }
        // The user ends at the first colon; the password may have more of them.
        let user = slice.prefix { $0 != UInt8(ascii: ":") }
        self.user = try Self.decoded(user)
        password = TransportOptions.Secret(try Self.decoded(slice.dropFirst(user.count + 1)))
        guard !self.user.utf8.contains(UInt8(ascii: ":")) else {
            throw NetworkError.unusableURL("the user in the URL has ':', which ends it (RFC 7617 §2)")
        }
    }

    /// Basic authentication; `nil` where nothing stands before the `@`, or only the colon.
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

/// User and password of a URL, and the origin that they are for.
struct URLCredentials: Sendable, Hashable {
    private let origin: RequestURL
    /// The value of `Authorization`. The user's name may be a key, and no more to be seen than the password.
    private let value: TransportOptions.Secret

    /// The credentials that a URL was read with; `nil` without any.
    init?(_ authentication: TransportOptions.Authentication?, for url: RequestURL) {
        guard let value = authentication?.fieldValue else { return nil }
        self.value = TransportOptions.Secret(value)
        origin = RequestURL(scheme: url.scheme, host: url.host, port: url.port, path: "/", query: nil)
    }

    /// The value of `Authorization` for a request; `nil` for one that goes to another origin.
    func fieldValue(for url: RequestURL) -> String? {
        url.hasSameOrigin(as: origin) ? value.value : nil
    }
}
