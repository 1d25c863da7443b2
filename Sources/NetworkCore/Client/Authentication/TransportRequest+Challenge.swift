import FoundationEssentials
import HTTPTypes

/// Credentials that a server must challenge first (RFC 9110 §11.4).
///
/// Each round is an exchange of its own, with a handle, a connection and a deadline as any other has: nothing of a
/// challenge reaches another request, and no request goes out without its body.
extension TransportRequest {
    /// A server may call a nonce stale once; a third challenge is its response.
    private static let maximumRounds = 3

    /// Whether the options have credentials for a challenge.
    var awaitsChallenge: Bool { options.hasRareOptions && options.authentication?.challenged != nil }

    /// Sends the request, and again with credentials if the server challenges it.
    /// - Parameter send: Sends one exchange.
    func answeringChallenges(
        _ send: (TransportRequest) async throws -> TransportResponse
    ) async throws -> TransportResponse {
        guard let credentials = options.authentication?.challenged else { return try await send(self) }
        try check()
        let start = ContinuousClock.now
        let deadline = options.totalTimeout.map { start + min($0, TransportOptions.maximumTimeout) }
        var round = try await withoutEmptyStream()
        round.options.authentication = nil
        round.url = url.withComparableEscapes
        round.credentials = nil
        // A one-time stream must not begin before the server accepts the request.
        let isOnce = round.body.map { !$0.isReplayable } ?? false
        let stream = isOnce ? round.body : nil
        if isOnce, !headerFields.contains(.expect) { round.headerFields[.expect] = "100-continue" }
        var (rounds, repeats) = (0, 0)
        while true {
            let isTaken = OneTimeFlag()
            if let stream { round.body = stream.taking(isTaken) }
            let earlier = ContinuousClock.now - start
            let response = try await send(round).following(rounds: rounds, repeats: repeats, of: earlier)
            guard response.status == .unauthorized, rounds < Self.maximumRounds - 1,
                let authorization = credentials.authorization(for: round, after: response.head, rounds: rounds),
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
            round.headerFields[.authorization] = authorization
        }
    }
}

extension TransportRequest.Body {
    /// Returns a body whose stream begins by raising a flag, and does not begin where the flag is raised already.
    fileprivate func taking(_ flag: OneTimeFlag) -> Self {
        guard case .produced(let producer) = content else { return self }
        return Self(
            content: .produced(
                BodyProducer(length: producer.length, isReplayable: producer.isReplayable) { deliver in
                    guard flag.raise() else { throw CancellationError() }
                    try await producer.run(deliver)
                }))
    }
}

extension TransportOptions.Authentication {
    /// User and password for a challenge.
    struct Challenged {
        let user: String
        let password: String
        /// Whether Basic over TLS will do where the server offers no Digest.
        let allowsBasic: Bool

        /// Returns the value of `Authorization`; `nil` without a known challenge, or where the credentials were
        /// refused already.
        func authorization(for request: TransportRequest, after head: HTTPResponse, rounds: Int) -> String? {
            let challenges = AuthenticationChallenge.all(in: head.headerFields)
            let digests = challenges.compactMap(DigestChallenge.init)
            // The strongest; of equal ones the first.
            let algorithms = DigestChallenge.Algorithm.allCases
            let digest = algorithms.lazy.compactMap { name in digests.first { $0.algorithm == name } }.first
            if let digest {
                guard rounds == 0 || digest.isStale else { return nil }
                let value = digest.authorization(
                    user: user, password: password, method: request.method.rawValue, target: request.url.target,
                    clientNonce: Self.nonce())
                // With a long target the response to the challenge may be too long to be sent.
                return HTTPField.problem(withValue: value) == nil ? value : nil
            }
            guard allowsBasic, rounds == 0, request.url.scheme == "https",
                challenges.contains(where: { $0.scheme == "basic" })
            else { return nil }
            return TransportOptions.Authentication.basic(user: user, password: .init(password)).fieldValue
        }

        private static func nonce() -> String {
            (0..<2).map { _ in String(UInt64.random(in: 1 << 60 ... .max), radix: 16) }.joined()
        }
    }

    /// The credentials, if the scheme needs a challenge.
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
    /// The URL in the form in which any libcurl sends it: escapes in capitals, and no empty query. Digest compares the
    /// text (RFC 7616 §3.4.6).
    fileprivate var withComparableEscapes: RequestURL {
        RequestURL(
            scheme: scheme, host: host, port: port, path: path.withCapitalEscapes,
            query: query.flatMap { $0.isEmpty ? nil : $0.withCapitalEscapes })
    }

    /// The URL with its path as any libcurl sends it, for a signature that contains it.
    var withComparablePath: RequestURL {
        RequestURL(scheme: scheme, host: host, port: port, path: path.withCapitalEscapes, query: query)
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
