extension RequestURL {
    /// A URL that may have user and password in it (`http://user:password@host/`), without them, and what they were.
    ///
    /// They are percent-decoded, as UTF-8, at the first `:`. Nothing but a colon before the `@` is no user and no
    /// password.
    ///
    /// ```swift
    /// let (url, credentials) = try RequestURL.separatingCredentials(from: "https://me:p%40ss@api.example.com/v1")
    /// // https://api.example.com/v1, and .basic(user: "me", password: …)
    /// ```
    ///
    /// A request that is made of a text does this itself: ``RequestData``,
    /// ``TransportRequest/init(method:to:headerFields:body:options:)``.
    /// - Throws: ``NetworkError`` with ``NetworkError/Code/invalidURL``, which shows neither: for what ``RequestURL``
    ///   refuses, control characters and escapes that are no UTF-8 in either, a `:` in the user's name, and more than
    ///   one `@`.
    public static func separatingCredentials(
        from text: String
    ) throws -> (url: RequestURL, credentials: TransportOptions.Authentication?) {
        if let plain = PlainURL.parse(text) { return (plain, nil) }
        var parser = RequestURLParser(text)
        let (url, userinfo) = try parser.parse()
        return (url, userinfo?.authentication)
    }

    /// A URL whose host is written in ASCII: for options, which other libraries read as they are.
    init(ascii text: String) throws {
        guard text.utf8.allSatisfy({ $0 < 0x80 }) else {
            throw NetworkError.unusableURL("it is not ASCII; write the xn-- (IDNA) form of a host")
        }
        try self.init(text)
    }
}

extension TransportRequest {
    /// A request to a URL as people write it. User and password in it become Basic authentication for this origin,
    /// unless ``TransportOptions/authentication`` or a header field `Authorization` says otherwise.
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

    /// The `Authorization` that user and password of the URL make of it; `nil` where the caller says otherwise.
    package var urlAuthorization: String? {
        guard options.authentication == nil, !headerFields.contains(.authorization) else { return nil }
        return credentials?.fieldValue(for: url)
    }

    /// Whether user and password stood in the URL, and it still has that origin.
    var hasCredentialsOfItsURL: Bool { credentials?.fieldValue(for: url) != nil }

    /// User and password that stood in the URL. Kept with the options, so that whatever compares or repeats those does
    /// not miss them.
    var credentials: URLCredentials? {
        get { options.urlCredentials }
        set { if newValue != options.urlCredentials { options.urlCredentials = newValue } }
    }
}
