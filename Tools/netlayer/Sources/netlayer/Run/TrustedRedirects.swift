import NetworkLayer

extension RedirectPolicy {
    /// Returns a policy that follows the permitted redirects, and sends the request's credentials to every origin.
    static func trusting(_ request: TransportRequest) -> RedirectPolicy {
        .deciding { proposal in
            var next = proposal.request
            let left = request.headerFields.filter { field in
                // Fields that describe a body are dropped together with the body.
                SecretFields.contains(field.name) && !field.name.canonicalName.hasPrefix("content-")
                    && !proposal.request.headerFields.contains(field.name)
            }
            for field in left { next.headerFields.append(field) }
            next.options.authentication = request.options.authentication
            return .follow(next)
        }
    }
}
