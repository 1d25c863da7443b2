import NetworkCore

/// The requests of a dispatcher that may share a loop, and so connections, addresses, and time. Each lane has a thread.
struct Lane: Hashable, Sendable {
    /// The index among the loops that share the origins.
    private let index: Int
    /// The resolver that the lane's requests name (DNS over HTTPS). Its addresses are only for requests that chose it.
    let resolver: String?
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
        resolver = isRare ? options.names.dnsOverHTTPS : nil
        ipVersion = isRare ? options.connection.ipVersion : .any
        let isShared = loops > 1 && resolver == nil
        index = isShared ? Int(UInt(bitPattern: origin.hashValue) % UInt(loops)) : 0
    }

}
