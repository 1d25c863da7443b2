import NetworkCore

/// Which requests of a dispatcher may share a loop, and with it connections, addresses and time. Each lane has a
/// thread.
struct Lane: Hashable, Sendable {
    /// One of the loops that share the origins.
    private let index: Int
    /// Whether its requests may let the thread wait: GSS-API asks the ticket service on the thread that runs the
    /// transfer, and what it has authenticated is the connection, which libcurl below 8.19 hands to requests without
    /// credentials.
    private let isAuthenticatedByTicket: Bool
    /// The resolver that its requests name (DNS over HTTPS). The addresses of one resolver are for those who chose it.
    private let resolver: String?

    /// The lane of a dispatcher's loop.
    init(index: Int) {
        self.index = index
        isAuthenticatedByTicket = false
        resolver = nil
    }

    /// The lane of a request.
    /// - Parameter loops: How many loops share the origins.
    init(_ options: TransportOptions, to origin: Origin, loops: Int) {
        let isRare = options.hasRareOptions
        isAuthenticatedByTicket = isRare && options.authentication == .negotiate
        resolver = isRare ? options.names.dnsOverHTTPS : nil
        let isShared = loops > 1 && !isAuthenticatedByTicket && resolver == nil
        index = isShared ? Int(UInt(bitPattern: origin.hashValue) % UInt(loops)) : 0
    }

    var isOrdinary: Bool { !isAuthenticatedByTicket && resolver == nil }
}
