extension RequestURL {
    /// Separates a URL from the user and the password that it may contain (`http://user:password@host/`).
    ///
    /// The text before the `@` is split at the first `:`, and both parts are percent-decoded as UTF-8. If it is empty
    /// or only a colon, there are no credentials.
    ///
    /// ```swift
    /// let (url, credentials) = try RequestURL.separatingCredentials(from: "https://me:p%40ss@api.example.com/v1")
    /// // https://api.example.com/v1, and .basic(user: "me", password: …)
    /// ```
    ///
    /// A request that is created from a text calls this function itself: ``RequestData``,
    /// ``TransportRequest/init(method:to:headerFields:body:options:)``.
    /// - Throws: ``NetworkError`` with ``NetworkError/Code/invalidURL``, which shows neither user nor password: for a
    ///   URL that ``RequestURL`` refuses, for a control character or an escape that is not UTF-8 in user or password,
    ///   for a `:` in the user, and for more than one `@`.
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
