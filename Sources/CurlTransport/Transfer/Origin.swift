import NetworkCore

/// The destination of connections: transfers with equal origins may share one.
struct Origin: Hashable, Sendable {
    let isSecure: Bool
    let host: String
    let port: Int
    /// Whether the host is an address and the request uses no proxy, so that no name is looked up.
    let isAddress: Bool

    init(isSecure: Bool, host: String, port: Int, isAddress: Bool = false) {
        self.isSecure = isSecure
        self.host = host
        self.port = port
        self.isAddress = isAddress
    }

    init(_ url: RequestURL, _ options: TransportOptions = TransportOptions()) {
        self.init(
            isSecure: url.scheme == "https", host: url.host, port: url.effectivePort,
            isAddress: url.isAddress && Self.goesStraight(options))
    }

    private static func goesStraight(_ options: TransportOptions) -> Bool {
        guard options.hasRareOptions else { return !NoProxyOption.mayBeNamed }
        guard options.names.connectTo.isEmpty else { return false }
        switch options.proxy.choice {
        case .none: return true
        case .environment: return !NoProxyOption.mayBeNamed
        case .explicit: return false
        }
    }
}
