import HTTPTypes

extension RequestData {
    /// Returns the request in the form that a transport takes: parsed, checked and encoded.
    /// - Parameters:
    ///   - options: The options of the exchange.
    ///   - encoder: The encoder of a ``RequestContent/json(_:encoder:)`` that names none. Default: the standard one.
    /// - Throws: ``NetworkError``, which names the problem, before anything is sent; the error of an encoder of your
    ///   own unchanged.
    public func transportRequest(
        options: TransportOptions = TransportOptions(), encoder: JSONRequestEncoder = .json
    ) throws -> TransportRequest {
        if let refusal { throw refusal }
        let (url, credentials) = try target(of: try PathTemplate.filled(path, with: pathParameters))
        var request = TransportRequest(method: method, url: url, options: options)
        request.credentials = URLCredentials(credentials, for: url)
        if !pathParameters.isEmpty { request.template = PathTemplate.name(of: path) }
        request.headerFields = try HTTPFields(checking: headerFields)
        if let idleTimeout { request.options.idleTimeout = idleTimeout }
        if let expectContinue { request.options.expectContinue = expectContinue }
        if let interimResponse { request.interimResponse = interimResponse }
        guard let content = try content ?? contentOfParameters() else { return request }
        let encoded = try content.encoded(by: RequestContent.Defaults(json: encoder, conventions: conventions))
        request.body = encoded.body
        if let type = encoded.contentType, !request.headerFields.contains(.contentType) {
            request.headerFields.append(try HTTPField(checking: "Content-Type", value: type))
        }
        return request
    }

    private func target(of path: String) throws -> (url: RequestURL, credentials: TransportOptions.Authentication?) {
        // A text with ':' is meant to be a URL, whose parser says what is wrong.
        if isBelowClientsBase, !path.isEmpty,
            path.hasBytePrefix("/") || !path.utf8.contains(UInt8(ascii: ":"))
        {
            throw NetworkError.refused(
                .invalidURL,
                "'\(Redaction().url(path))' is a path, and there is no base URL: set the client's `baseURL`, or write "
                    + "the whole URL, which starts with http:// or https://")
        }
        guard let baseURL else {
            let (url, credentials) = try RequestURL.separatingCredentials(from: path)
            return (try withQuery(url), credentials)
        }
        let base: (url: RequestURL, credentials: TransportOptions.Authentication?)
        do { base = try RequestURL.separatingCredentials(from: baseURL) } catch var error as NetworkError {
            // The request's own path is in order.
            error.message = "the client's `baseURL`, for the path '\(Redaction().url(path))': \(error.message)"
            throw error
        }
        return (try withQuery(try base.url.appending(path)), base.credentials)
    }

    private func withQuery(_ url: RequestURL) throws -> RequestURL {
        let inQuery = [query, parametersAreQuery ? parameters : nil].compactMap { $0 }
        guard !inQuery.isEmpty else { return url }
        let encoder = QueryEncoder(conventions: conventions, limit: .url)
        let added = try inQuery.map { try encoder.encode($0) }.filter { !$0.isEmpty }
        guard !added.isEmpty else { return url }
        let kept = [url.query ?? ""].filter { !$0.isEmpty }
        return try url.replacingQuery((kept + added).joined(separator: "&")).withinLimit()
    }

    private var parametersAreQuery: Bool {
        content != nil || method == .get || method == .head || method == .delete
    }

    private func contentOfParameters() throws -> RequestContent? {
        guard let parameters, !parametersAreQuery else { return nil }
        return .json(parameters: parameters)
    }
}
