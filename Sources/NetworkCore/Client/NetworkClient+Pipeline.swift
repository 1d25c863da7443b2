import HTTPTypes

extension NetworkClient {
    /// Sends a request on the path of a call: through the interceptors, the redirects, and for each exchange the
    /// exchange interceptors, the cookies and the transport.
    func carry(_ request: TransportRequest, in call: Call) async throws -> TransportResponse {
        do {
            try OptionCheck.atLeast(0, redirectPolicy.maximumRedirects, "redirectPolicy.maximumRedirects")
            guard !interceptors.isEmpty || !exchangeInterceptors.isEmpty else {
                return try await follow(request, in: call)
            }
            let response =
                interceptors.isEmpty ? try await follow(request, in: call) : try await intercept(request, in: call)
            return response.ended(by: call)
        } catch {
            throw call.noted(in: error, of: request, transport: transport.name)
        }
    }

    func step(_ request: TransportRequest, in call: Call) async throws -> TransportResponse {
        if exchangeInterceptors.isEmpty { return try await exchange(request, in: call) }
        let before = call.exchanges
        let response = try await interceptExchange(request, in: call)
        if call.exchanges == before { call.gotResponse(to: request) }
        return response
    }

    // A step of the caller's own may wait for anything; the deadline limits it.

    private func intercept(_ request: TransportRequest, in call: Call) async throws -> TransportResponse {
        try checkTime(for: request, in: call)
        return try await call.withinDeadline {
            try await Next(interceptors[...], call: call) { try await follow($0, in: call) }(request)
        }
    }

    private func interceptExchange(_ request: TransportRequest, in call: Call) async throws
        -> TransportResponse
    {
        let next = Next(exchangeInterceptors[...], call: call) { try await exchange($0, in: call) }
        // Within the call's interceptors the deadline applies already.
        guard interceptors.isEmpty else { return try await next(request) }
        try checkTime(for: request, in: call)
        return try await call.withinDeadline { try await next(request) }
    }

    func checkTime(for request: TransportRequest, in call: Call) throws {
        guard let remaining = call.remaining, remaining <= .zero else { return }
        // A timeout of 0 or less is an invalid option, not a deadline that has passed.
        try request.options.check()
        throw NetworkError.totalTimeout.during(request, transport: transport.name, elapsed: call.elapsed)
    }

    /// Carries out one exchange, or with credentials for a challenge the rounds that it takes: here and not only in the
    /// transport, since each of them sends and stores cookies, as a server's nonce may belong to a session.
    private func exchange(_ request: TransportRequest, in call: Call) async throws -> TransportResponse {
        guard request.isAuthenticatedInSteps else { return try await oneExchange(request, in: call) }
        // Once for all rounds, and before the check: a stream is one where the transport can't send it.
        var whole = request
        whole.endBy(call)
        whole = try await whole.collectingBody(for: transport.capabilities)
        do { try whole.check(for: transport.capabilities) } catch let error as NetworkError {
            throw error.during(whole, transport: transport.name, elapsed: call.elapsed)
        }
        let nonces = (transport as? any RemembersNonces)?.nonces ?? DigestMemory()
        return try await whole.authenticated(remembering: nonces) { try await oneExchange($0, in: call) }
    }

    private func oneExchange(_ request: TransportRequest, in call: Call) async throws -> TransportResponse {
        var request = try prepared(request, in: call)
        if let body = request.body, body.bytes == nil {
            request = try await request.collectingBody(for: transport.capabilities)
        }
        do {
            var response = try await transport.send(request)
            if response.carrier == nil { response.carrier = transport.name }
            cookieJar?.take(response.head.headerFields, from: request.url)
            call.endExchange(response)
            return response
        } catch {
            throw noted(error, in: call)
        }
    }

    // A separate function, not inlined: an asynchronous function keeps its values in memory while it waits.

    @inline(never)
    private func prepared(_ request: TransportRequest, in call: Call) throws -> TransportRequest {
        var request = request
        call.beginExchange(request)
        try checkTime(for: request, in: call)
        request.endBy(call)
        // For each exchange: a guard that a request of an interceptor or of a redirect goes around is none.
        if options.addressPolicy != .any, request.options.addressPolicy == .any {
            request.options.addressPolicy = options.addressPolicy
        }
        if let cookieJar {
            let value = cookieJar.fieldValue(for: request.url, after: request.headerFields[.cookie])
            request.headerFields.removeAll { $0.name == .cookie }
            // Not by subscript, which splits a cookie into one field each, as HTTP/2 allows.
            if let value {
                try request.checkFieldCount(adding: 1)
                request.headerFields.append(HTTPField(name: .cookie, value: value))
            }
        }
        return request
    }

    /// Moves the transport's repeats from an error to the call, which may go on.
    private func noted(_ error: any Error, in call: Call) -> any Error {
        guard var error = error as? NetworkError, let repeats = error.exchange?.repeats, repeats > 0 else {
            return error
        }
        call.count(repeats: repeats)
        error.exchange?.repeats = 0
        return error
    }
}

extension TransportRequest {
    /// Limits the total timeout to the time that is left to the call. A step may have set a shorter one.
    fileprivate mutating func endBy(_ call: NetworkClient.Call) {
        guard let remaining = call.remaining.map({ max($0, .nanoseconds(1)) }) else { return }
        options.totalTimeout = options.totalTimeout.map { min($0, remaining) } ?? remaining
    }
}

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

    /// Whether a call's request, the client or a token has credentials that are for other origins than a URL's.
    func hasCredentials(of request: TransportRequest, apartFrom url: RequestURL) -> Bool {
        if request.hasCredentials, !request.url.hasSameOrigin(as: url) { return true }
        let hasOwn =
            headerFields.contains(.authorization) || options.authentication != nil
            || options.tls.clientCertificate != nil
        if hasOwn, !isBase(originOf: url) { return true }
        return (interceptors + exchangeInterceptors).contains {
            ($0 as? BearerAuthentication)?.isMeant(for: url) == false
        }
    }

    /// Whether a URL has the base URL's origin; without a base, every URL has it.
    package func isBase(originOf url: RequestURL) -> Bool {
        guard let baseURL else { return true }
        return (try? RequestURL.separatingCredentials(from: baseURL).url)?.hasSameOrigin(as: url) ?? false
    }
}
