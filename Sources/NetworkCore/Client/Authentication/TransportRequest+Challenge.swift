import FoundationEssentials
import HTTPTypes

/// Credentials that a server or a proxy must challenge first (RFC 9110 §11).
extension TransportRequest {
    /// A server, or a proxy, may challenge a request and call the nonce stale once.
    private static let roundsOfEach = 2

    var awaitsChallenge: Bool {
        options.hasRareOptions && (options.authentication?.challenged != nil || proxyCredentials != nil)
    }

    /// The proxy and the credentials for its challenge, if the request goes to it as a request.
    private var proxyCredentials: (url: String, credentials: TransportOptions.Authentication.Challenged)? {
        guard case .explicit(let proxy) = options.proxy, let user = proxy.user,
            proxy.respondsToChallenge(of: self), !headerFields.contains(.proxyAuthorization)
        else { return nil }
        let credentials = TransportOptions.Authentication.Challenged(
            user: user, password: proxy.password?.value ?? "", allowsBasic: false)
        return (proxy.url, credentials)
    }

    /// Sends the request, and again with credentials if the server or the proxy challenges it.
    func answeringChallenges(
        remembering nonces: DigestMemory, _ send: (TransportRequest) async throws -> TransportResponse
    ) async throws -> TransportResponse {
        guard awaitsChallenge else { return try await send(self) }
        try check()
        let start = ContinuousClock.now
        let deadline = options.totalTimeout.map { start + min($0, TransportOptions.maximumTimeout) }
        var round = try await withoutEmptyStream()
        if options.authentication?.challenged != nil {
            round.options.authentication = nil
            round.credentials = nil
        }
        round.url = url.withComparableEscapes()
        var challengers = challengers(of: round)
        // A one-time stream must not begin before the server accepts the request.
        let isOnce = round.body.map { !$0.isReplayable } ?? false
        let stream = isOnce ? round.body : nil
        if isOnce, !headerFields.contains(.expect) { round.headerFields[.expect] = "100-continue" }
        var maximumRounds = 1 + Self.roundsOfEach * challengers.count
        for challenger in challengers where challenger.addRemembered(nonces, to: &round) { maximumRounds += 1 }
        var (rounds, repeats) = (0, 0)
        while true {
            let isTaken = OneTimeFlag()
            if let stream { round.body = stream.taking(isTaken) }
            let earlier = ContinuousClock.now - start
            let response = try await send(round).following(rounds: rounds, repeats: repeats, of: earlier)
            for index in challengers.indices { challengers[index].receive(response.head, nonces) }
            guard let index = challengers.firstIndex(where: { $0.status == response.status }) else { return response }
            guard rounds < maximumRounds - 1,
                let authorization = challengers[index].answer(response.head, to: round, nonces),
                // From here on the stream is the next round's, also where this one is about to begin it.
                stream == nil || isTaken.raise()
            else { return response }
            rounds += 1
            repeats = response.metrics.repeats ?? repeats
            await response.drain()
            if Task.isCancelled { throw NetworkError.cancelled }
            if let deadline {
                let left = deadline - ContinuousClock.now
                guard left > .zero else { throw NetworkError.totalTimeout(of: self, phase: .waiting) }
                round.options.totalTimeout = left
            }
            if isOnce { round.headerFields[.expect] = headerFields[.expect] }
            round.headerFields[challengers[index].credentialField] = authorization
            // The others count this request too.
            for other in challengers.indices where other != index {
                challengers[other].addRemembered(nonces, to: &round)
            }
        }
    }

    private func challengers(of round: TransportRequest) -> [Challenger] {
        var all: [Challenger] = []
        if let (url, credentials) = proxyCredentials {
            all.append(Challenger(.proxy, credentials, at: .init(url, credentials, round.options)))
        }
        if let credentials = options.authentication?.challenged {
            let origin = "\(round.url.scheme)://\(round.url.host):\(round.url.effectivePort)"
            all.append(Challenger(.server, credentials, at: .init(origin, credentials, round.options)))
        }
        return all
    }
}

/// A server or a proxy that may challenge a request, during one call.
private struct Challenger {
    enum Party { case server, proxy }

    private let party: Party
    private let credentials: TransportOptions.Authentication.Challenged
    private let place: DigestMemory.Place
    private var hasAnswered = false
    /// The nonce of that challenge, until it has been accepted.
    private var answered: DigestMemory.Entry?

    init(_ party: Party, _ credentials: TransportOptions.Authentication.Challenged, at place: DigestMemory.Place) {
        (self.party, self.credentials, self.place) = (party, credentials, place)
    }

    var status: HTTPResponse.Status { party == .server ? .unauthorized : .proxyAuthenticationRequired }
    var credentialField: HTTPField.Name { party == .server ? .authorization : .proxyAuthorization }
    private var challengeField: HTTPField.Name { party == .server ? .wwwAuthenticate : .proxyAuthenticate }
    private var infoField: HTTPField.Name { party == .server ? .authenticationInfo : .proxyAuthenticationInfo }

    /// Adds the credentials for a nonce that an earlier request was given.
    @discardableResult
    func addRemembered(_ nonces: DigestMemory, to request: inout TransportRequest) -> Bool {
        guard let value = nonces.credentials(credentials, for: request, at: place) else { return false }
        request.headerFields[credentialField] = value
        return true
    }

    /// Notes what a response says of the credentials that went out with its request.
    mutating func receive(_ head: HTTPResponse, _ nonces: DigestMemory) {
        if head.status != status, let answered = answered.take() { nonces.remember(answered, at: place) }
        if let info = head.headerFields[infoField] { nonces.take(info: info, at: place) }
    }

    /// Returns the value of ``credentialField``; `nil` without a known challenge, or where the credentials were refused
    /// already. Credentials for a remembered nonce are none that were refused: it may be too old, whatever is said.
    mutating func answer(_ head: HTTPResponse, to request: TransportRequest, _ nonces: DigestMemory) -> String? {
        let challenges = head.headerFields[values: challengeField].flatMap { AuthenticationChallenge.all(in: $0) }
        let digests = challenges.compactMap(DigestChallenge.init)
        // The strongest; of equal ones the first.
        let algorithms = DigestChallenge.Algorithm.allCases
        let digest = algorithms.lazy.compactMap { name in digests.first { $0.algorithm == name } }.first
        defer { hasAnswered = true }
        if let digest, !hasAnswered || digest.isStale {
            var entry = DigestMemory.Entry(digest)
            let value = entry.next(credentials, for: request)
            answered = entry
            return value
        }
        nonces.forget(place)
        guard digest == nil, credentials.allowsBasic, !hasAnswered, request.url.scheme == "https",
            challenges.contains(where: { $0.scheme == "basic" })
        else { return nil }
        return TransportOptions.Authentication.basic(user: credentials.user, password: .init(credentials.password))
            .fieldValue
    }
}

extension TransportOptions.Proxy.Server {
    /// Returns whether a request goes to this proxy as a request and not through a tunnel, with credentials for its
    /// challenge.
    package func respondsToChallenge(of request: TransportRequest) -> Bool {
        let names = request.options.names
        return isHTTP && authenticationScheme != .basic && !tunnel && request.url.scheme == "http"
            && names.connectTo.isEmpty && names.addresses.isEmpty && !isPassed(by: request.url)
    }
}

extension HTTPField.Name {
    fileprivate static let authenticationInfo = Self("Authentication-Info")!
    fileprivate static let proxyAuthenticationInfo = Self("Proxy-Authentication-Info")!
}

extension TransportRequest.Body {
    /// Returns a body whose stream begins by raising a flag, and does not begin where the flag is raised already.
    fileprivate func taking(_ flag: OneTimeFlag) -> Self {
        guard case .produced(let producer) = content else { return self }
        return Self(
            content: .produced(
                BodyProducer(
                    length: producer.length, isReplayable: producer.isReplayable, trailers: producer.trailers
                ) { deliver in
                    guard flag.raise() else { throw CancellationError() }
                    try await producer.run(deliver)
                }))
    }
}

extension TransportOptions.Authentication {
    struct Challenged {
        let user: String
        let password: String
        /// Whether Basic over TLS will do where the server offers no Digest.
        let allowsBasic: Bool
    }

    var challenged: Challenged? {
        switch self {
        case .digest(let user, let password):
            Challenged(user: user, password: password.value, allowsBasic: false)
        case .anySafe(let user, let password):
            Challenged(user: user, password: password.value, allowsBasic: true)
        case .basic, .bearer, .awsSigV4: nil
        }
    }
}

extension RequestURL {
    /// The URL in the form in which any libcurl sends it: escapes in capitals, and no empty query.
    func withComparableEscapes(inQuery: Bool = true) -> RequestURL {
        let query = inQuery ? query.flatMap { $0.isEmpty ? nil : $0.withCapitalEscapes } : query
        return RequestURL(scheme: scheme, host: host, port: port, path: path.withCapitalEscapes, query: query)
    }
}

extension String {
    /// The text with the digits of percent escapes in capitals.
    fileprivate var withCapitalEscapes: String {
        guard utf8.contains(UInt8(ascii: "%")) else { return self }
        let parts = split(separator: "%", omittingEmptySubsequences: false)
        return parts.dropFirst().reduce(into: String(parts[0])) { text, part in
            text += "%" + part.prefix(2).uppercased() + part.dropFirst(2)
        }
    }
}
