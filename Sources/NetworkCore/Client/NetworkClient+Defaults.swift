import HTTPTypes

/// The defaults that a request gets from its client: the rule of ``NetworkClient/headerFields``.
extension NetworkClient {
    /// Returns the request of a description, which has no options of its own, with the client's options.
    func request(of data: RequestData, options: TransportOptions) throws -> TransportRequest {
        let isBelowBase = data.isBelowClientsBase && baseURL != nil
        var request = try data.based(on: baseURL).transportRequest(options: options, encoder: encoder)
        // User and password in the client's base URL belong to the client.
        if isBelowBase { request.credentials?.belongToClient = true }
        let hasOwnCredentials =
            request.headerFields.contains(.authorization) || !isBelowBase && request.hasCredentialsOfItsURL
        let isPlain = headerFields.isEmpty && !request.options.hasRareOptions
        let isOfBase = isPlain || isBase(originOf: request.url)
        if !isOfBase { OfOneOrigin.remove(from: &request.options) }
        if hasOwnCredentials, request.options.authentication != nil { request.options.authentication = nil }
        addHeaderFields(to: &request, isOfBase: isOfBase, hasOwnCredentials: hasOwnCredentials)
        if !isBelowBase { addCredentials(to: &request) }
        return request
    }

    func addDefaults(to request: inout TransportRequest) {
        let hasOwnCredentials =
            request.options.authentication != nil || request.hasCredentialsOfItsURL
            || request.headerFields.contains(.authorization)
        addHeaderFields(to: &request, isOfBase: isBase(originOf: request.url), hasOwnCredentials: hasOwnCredentials)
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

    private func addHeaderFields(to request: inout TransportRequest, isOfBase: Bool, hasOwnCredentials: Bool) {
        if !options.secretFields.isSubset(of: request.options.secretFields) {
            request.options.secretFields.formUnion(options.secretFields)
        }
        guard !headerFields.isEmpty else { return }
        let secrets = request.options.secretFields
        request.addMissing(headerFields) { name in
            (isOfBase || !OfOneOrigin.contains(name, besides: secrets))
                && !(hasOwnCredentials && name == .authorization)
        }
    }

    /// Whether a URL has the base URL's origin; without a base, every URL has it.
    private func isBase(originOf url: RequestURL) -> Bool {
        guard let baseURL else { return true }
        return (try? RequestURL.separatingCredentials(from: baseURL).url)?.hasSameOrigin(as: url) ?? false
    }
}
