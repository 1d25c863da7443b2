import NetworkLayer

extension RedirectPolicy {
    /// Follows what the rules allow, and takes the credentials of a request along to whatever origin it leads.
    static func trusting(_ request: TransportRequest) -> RedirectPolicy {
        .deciding { proposal in
            var next = proposal.request
            let left = request.headerFields.filter { field in
                // What describes a body went with the body.
                SecretFields.contains(field.name) && !field.name.canonicalName.hasPrefix("content-")
                    && !proposal.request.headerFields.contains(field.name)
            }
            for field in left { next.headerFields.append(field) }
            next.options.authentication = request.options.authentication
            return .follow(next)
        }
    }
}
