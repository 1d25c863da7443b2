import HTTPTypes

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
