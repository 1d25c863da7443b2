import HTTPTypes

/// The request that follows a redirect: the rules of ``RedirectPolicy`` without its state.
struct RedirectRules: Sendable {
    let policy: RedirectPolicy
    /// Whether the transport joins repeated fields, so that a comma may separate two values.
    var joinsFields = false

    /// Returns the next request; `nil` for a response that is returned as it is.
    func next(after request: TransportRequest, head: HTTPResponse) throws -> TransportRequest? {
        guard [301, 302, 303, 307, 308].contains(head.status.code), let target = target(of: head, from: request.url)
        else { return nil }
        var next = request
        (next.url, next.template) = (target, nil)
        if dropsBody(head.status.code, request) {
            if next.method != .head { next.method = .get }
            next.body = nil
            next.headerFields.removeAll {
                $0.name.canonicalName.hasPrefix("content-") || Self.fieldsOfBodies.contains($0.name.canonicalName)
            }
        }
        if let body = next.body, !body.isReplayable { return nil }
        if request.url.scheme == "https", target.scheme == "http", !policy.allowsDowngrade {
            throw NetworkError.redirectRefused(from: request.url, to: target, "it leads from https to http")
        }
        if !target.hasSameOrigin(as: request.url) { leaveSecretsBehind(in: &next) }
        return next
    }

    private func target(of head: HTTPResponse, from base: RequestURL) -> RequestURL? {
        let locations = head.headerFields[values: .location]
        guard let location = locations.first, !location.isEmpty, locations.allSatisfy(location.hasSameBytes),
            !joinsFields || !location.contains(", ")
        else { return nil }
        do {
            return try base.resolving(location)
        } catch {
            // The response then goes to the caller, with the unusable field in it.
            return nil
        }
    }

    /// The fields that say something of a body besides those that begin with `content-` (RFC 9110 §6.6.2, §10.1.1,
    /// §15.4; RFC 9530 §3).
    private static let fieldsOfBodies: Set<String> = [
        "digest", "expect", "last-modified", "repr-digest", "trailer", "transfer-encoding", "x-amz-content-sha256",
    ]

    private func dropsBody(_ status: Int, _ request: TransportRequest) -> Bool {
        guard !policy.keepsMethodOn.contains(status) else { return false }
        switch status {
        case 301, 302: return request.method == .post
        case 303: return request.body != nil || request.method != .get && request.method != .head
        default: return false
        }
    }

    private func leaveSecretsBehind(in request: inout TransportRequest) {
        let own = request.options.secretFields
        request.headerFields.removeAll { OfOneOrigin.contains($0.name, besides: own) }
        OfOneOrigin.remove(from: &request.options)
        // A later redirect back to this origin would send them again.
        request.credentials = nil
    }
}

extension NetworkError {
    static func redirectRefused(from: RequestURL, to: RequestURL, _ reason: String) -> NetworkError {
        NetworkError(.redirectRefused, "the redirect from \(from) to \(to) is refused: \(reason)", phase: .decoding)
    }
}

/// The parts of a request that are meant for one origin, and wrong or too much at any other: secrets, and the fields
/// that name the origin, and the socket at which it is. A redirect leaves them behind, and a client sends them only to
/// the origin of its base URL.
package enum OfOneOrigin {
    /// The fields that name where a request comes from or goes to.
    private static let places: Set<String> = ["host", "referer"]

    static func contains(_ name: HTTPField.Name, besides own: Set<HTTPField.Name>) -> Bool {
        SecretFields.contains(name) || own.contains(name) || places.contains(name.canonicalName)
    }

    /// Removes what is meant for one origin from the options. The user and password of a URL carry their own origin.
    package static func remove(from options: inout TransportOptions) {
        guard options.hasRareOptions else { return }
        options.authentication = nil
        options.tls.clientCertificate = nil
        options.tls.serverName = nil
        options.connection.unixSocket = nil
    }
}

extension NetworkClient {
    /// Carries out an exchange and, as far as the policy allows, the redirects that it leads to.
    func follow(_ request: TransportRequest, in call: Call) async throws -> TransportResponse {
        call.beginChain()
        let response = try await step(request, in: call)
        guard response.status.kind == .redirection, redirectPolicy.isOn else { return response }
        return try await follow(from: response, to: request, in: call)
    }

    private func follow(
        from first: TransportResponse,
        to start: TransportRequest,
        in call: Call
    ) async throws -> TransportResponse {
        var (request, response, followed) = (start, first, 0)
        while true {
            do {
                let joinsFields = response.joinsFields ?? !transport.capabilities.supports(.exactResponseFields)
                let rules = RedirectRules(policy: redirectPolicy, joinsFields: joinsFields)
                guard var next = try rules.next(after: request, head: response.head) else { return response }
                guard followed < redirectPolicy.maximumRedirects else {
                    throw NetworkError(
                        .tooManyRedirects,
                        "the limit of redirects (\(redirectPolicy.maximumRedirects)) is used up; the one from "
                            + "\(request.url) to \(next.url) was not followed", phase: .decoding)
                }
                if let decide = redirectPolicy.decide {
                    let proposal = RedirectPolicy.Proposal(
                        redirect: RedirectPolicy.Redirect(
                            response.head.status, from: call.met.last?.url ?? request.url, as: next),
                        request: next,
                        head: response.head,
                        followed: followed
                    )
                    // The rest of the response waits meanwhile, on a connection that other requests may need.
                    let words = "the decision on the redirect from \(request.url) took longer than idleTimeout"
                    let decision = try await call.withinDeadline(
                        and: request.options.idleTimeout,
                        or: NetworkError(.redirectRefused, "\(words), while the response waited", phase: .receiving)
                    ) { try await decide(proposal) }
                    switch decision {
                    case .follow(let decided): next = decided
                    case .stop: return response
                    case .refuse(let reason):
                        throw NetworkError.redirectRefused(from: request.url, to: next.url, reason)
                    }
                }
                await response.drain()
                call.follow(
                    RedirectPolicy.Redirect(
                        response.head.status, from: call.met.last?.url ?? request.url, as: next),
                    after: response)
                request = next
                followed += 1
            } catch let error as NetworkError {
                throw error.during(request, transport: response.carrier ?? transport.name, elapsed: call.elapsed)
            }
            response = try await step(request, in: call)
        }
    }
}

extension RedirectPolicy.Redirect {
    fileprivate init(_ status: HTTPResponse.Status, from: RequestURL, as request: TransportRequest) {
        self.init(status: status, from: from, to: request.url, method: request.method)
    }
}
