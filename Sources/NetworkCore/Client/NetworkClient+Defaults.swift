import HTTPTypes

/// The defaults that a request gets from its client: the rule of ``NetworkClient/headerFields``.
extension NetworkClient {
    /// Returns the request of a description, which has no options of its own, with the client's options.
    func request(of data: RequestData, options: TransportOptions) throws -> TransportRequest {
        let isBelowBase = data.isBelowClientsBase && baseURL != nil
        var request = try data.based(on: baseURL).transportRequest(options: options, encoder: encoder)
        // User and password in the client's base URL belong to the client.
        if isBelowBase { request.credentials?.belongToClient = true }
        let saysWhoAsks =
            request.headerFields.contains(.authorization) || !isBelowBase && request.hasCredentialsOfItsURL
        let isPlain = headerFields.isEmpty && !request.options.hasRareOptions
        let isAtHome = isPlain || isBase(originOf: request.url)
        if !isAtHome {
            if OfOneOrigin.hasCredentials(options), !saysWhoAsks { request.lacksCredentials = true }
            OfOneOrigin.remove(from: &request.options)
        }
        if saysWhoAsks, request.options.authentication != nil { request.options.authentication = nil }
        addHeaderFields(to: &request, isAtHome: isAtHome, saysWhoAsks: saysWhoAsks)
        if !isBelowBase { addCredentials(to: &request) }
        return request
    }

    func addDefaults(to request: inout TransportRequest) {
        let saysWhoAsks =
            request.options.authentication != nil || request.hasCredentialsOfItsURL
            || request.headerFields.contains(.authorization)
        addHeaderFields(to: &request, isAtHome: isBase(originOf: request.url), saysWhoAsks: saysWhoAsks)
        addCredentials(to: &request)
    }

    /// Adds the user and the password of the base URL to a request for its origin that has no others.
    private func addCredentials(to request: inout TransportRequest) {
        guard let baseURL, request.options.authentication == nil, !request.hasCredentialsOfItsURL,
            !request.headerFields.contains(.authorization),
            let base = try? RequestURL.separatingCredentials(from: baseURL), base.url.hasSameOrigin(as: request.url),
            var credentials = URLCredentials(base.credentials, for: request.url)
        else { return }
        credentials.belongToClient = true
        request.credentials = credentials
    }

    private func addHeaderFields(to request: inout TransportRequest, isAtHome: Bool, saysWhoAsks: Bool) {
        if !options.secretFields.isSubset(of: request.options.secretFields) {
            request.options.secretFields.formUnion(options.secretFields)
        }
        guard !headerFields.isEmpty else { return }
        if !isAtHome, !saysWhoAsks, headerFields.contains(.authorization) { request.lacksCredentials = true }
        let secrets = request.options.secretFields
        request.addMissing(headerFields) { name in
            (isAtHome || !OfOneOrigin.contains(name, besides: secrets)) && !(saysWhoAsks && name == .authorization)
        }
    }

    /// Whether a URL has the base URL's origin; without a base, every URL has it.
    private func isBase(originOf url: RequestURL) -> Bool {
        guard let baseURL else { return true }
        return (try? RequestURL.separatingCredentials(from: baseURL).url)?.hasSameOrigin(as: url) ?? false
    }
}
