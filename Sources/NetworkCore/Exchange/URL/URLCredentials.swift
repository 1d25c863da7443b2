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

    init?(_ authentication: TransportOptions.Authentication?, for url: RequestURL) {
        guard let value = authentication?.fieldValue else { return nil }
        self.value = TransportOptions.Secret(value)
        origin = RequestURL(scheme: url.scheme, host: url.host, port: url.port, path: "/", query: nil)
    }

    func fieldValue(for url: RequestURL) -> String? {
        url.hasSameOrigin(as: origin) ? value.value : nil
    }
}

extension RequestURL {
    /// Parses a URL that may contain a user and a password. No error shows them.
    static func separatingCredentials(
        from text: String
    ) throws -> (url: RequestURL, credentials: TransportOptions.Authentication?) {
        if let plain = PlainURL.parse(text) { return (plain, nil) }
        var parser = RequestURLParser(text)
        let (url, userinfo) = try parser.parse()
        return (url, userinfo?.authentication)
    }

    /// Parses a URL whose host must be ASCII: for options that other libraries parse themselves.
    init(ascii text: String) throws {
        guard text.utf8.allSatisfy({ $0 < 0x80 }) else {
            throw NetworkError.unusableURL("it is not ASCII; write the xn-- (IDNA) form of a host")
        }
        try self.init(text)
    }
}

extension TransportRequest {
    /// Creates a request from a URL as people write it. A user and a password in the URL become Basic authentication
    /// for its origin, unless ``TransportOptions/authentication`` or a header field `Authorization` is set.
    /// - Throws: ``NetworkError`` with ``NetworkError/Code/invalidURL``.
    public init(
        method: HTTPRequest.Method = .get,
        to url: String,
        headerFields: HTTPFields = [:],
        body: Body? = nil,
        options: TransportOptions = TransportOptions()
    ) throws {
        let (url, credentials) = try RequestURL.separatingCredentials(from: url)
        self.init(method: method, url: url, headerFields: headerFields, body: body, options: options)
        self.credentials = URLCredentials(credentials, for: url)
    }

    /// The value of `Authorization` for the URL's user and password; `nil` if there are none or the caller set other
    /// credentials.
    package var urlAuthorization: String? {
        guard options.authentication == nil, !headerFields.contains(.authorization) else { return nil }
        return credentials?.fieldValue(for: url)
    }

    /// Whether the request still goes to the origin of a URL that contained a user and a password.
    var hasCredentialsOfItsURL: Bool { credentials?.fieldValue(for: url) != nil }

    /// Whether the request's own URL, and not the client's base URL, has credentials for where it goes.
    var hasOwnCredentialsInURL: Bool { hasCredentialsOfItsURL && credentials?.belongToClient == false }

    /// The user and the password from the URL. Stored in the options, so that code that compares or repeats the options
    /// includes them.
    var credentials: URLCredentials? {
        get { options.urlCredentials }
        set { if newValue != options.urlCredentials { options.urlCredentials = newValue } }
    }
}
