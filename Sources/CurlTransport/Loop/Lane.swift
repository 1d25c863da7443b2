import NetworkCore

/// The requests of a dispatcher that may share a loop, and so connections, addresses, and time. Each lane has a thread.
struct Lane: Hashable, Sendable {
    /// The index among the loops that share the origins.
    private let index: Int
    /// The resolver that the lane's requests name (DNS over HTTPS). Its addresses are only for requests that chose it.
    let resolver: Resolver?
    /// The version of the addresses. libcurl keeps those of one version under the name alone, and would give them to
    /// requests that want another.
    private let ipVersion: TransportOptions.Connection.IPVersion

    /// Creates the lane of a dispatcher's shared loop.
    init(index: Int) {
        self.index = index
        resolver = nil
        ipVersion = .any
    }

    /// Creates the lane of a request.
    /// - Parameter loops: The number of loops that share the origins.
    init(_ options: TransportOptions, to origin: Origin, loops: Int) {
        let isRare = options.hasRareOptions
        resolver = isRare ? options.names.dnsOverHTTPS.map { Resolver($0, trustedBy: options.tls.authorities) } : nil
        ipVersion = isRare ? options.connection.ipVersion : .any
        let isShared = loops > 1 && resolver == nil
        index = isShared ? Int(UInt(bitPattern: origin.hashValue) % UInt(loops)) : 0
    }

    /// A resolver, and the authorities by which requests trust it: what it says to a request is only for those that
    /// would believe it.
    struct Resolver: Hashable, Sendable {
        private let url: String
        private let authorities: TransportOptions.TLS.Authorities
        /// The bytes of a path: an equivalent Unicode text is another file.
        private let path: [UInt8]

        init(_ url: String, trustedBy authorities: TransportOptions.TLS.Authorities) {
            (self.url, self.authorities) = (url, authorities)
            switch authorities {
            case .file(let text), .directory(let text): path = Array(text.utf8)
            case .system, .bytes: path = []
            }
        }
    }
}

extension LoopLimits {
    /// Returns the limits of a lane's loop.
    func of(_ lane: Lane) -> LoopLimits {
        var limits = self
        if lane.resolver != nil {
            limits.connectionsOfLookUps = 2 * Admission.maximumLookUps
        } else {
            limits.inAll = max(1, inAll / loops)
        }
        return limits
    }
}
