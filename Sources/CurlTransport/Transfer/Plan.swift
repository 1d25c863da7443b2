import NetworkCore

/// What requests with the same options to the same origin have in common, found once for all of them: whether the
/// options are valid, the key of their connections, and what follows from the options.
///
/// @unchecked: `destination` is the loop's, whose thread alone touches it; nothing else changes.
final class Plan: @unchecked Sendable {
    /// The groups of the options, whose identity ``Plans`` compares: a later group may get the identity of one that is
    /// gone.
    let groups: TransportOptions
    let origin: Origin
    let key: ConnectionKey
    /// The loop's time.
    let clock: LoopClock
    /// Whether no certificate is checked.
    let trustsAnyServer: Bool
    /// libcurl's own connect timeout.
    let connectTimeout: ConnectTimeoutOption
    /// What happens to a response's body that is not read, in a request with the standard limit.
    let isPausable: Bool
    /// Whether the request certainly goes out over HTTP/1, unless a connection shows that.
    let asksForHTTP1: Bool
    /// Whether the request may open a proxy tunnel.
    let mayTunnel: Bool
    /// Whether the proxy may speak TLS, so that an `http` URL's request may be sent over TLS.
    let maySendOverTLS: Bool
    /// Whether the server's name may be looked up after the socket to the proxy was opened.
    let looksUpBehindProxy: Bool
    /// Whether a request of these options may leave its handle to the next one.
    let keepsHandles: Bool
    /// What is known about HTTP/3 at the place of the connections; `nil` where nothing depends on it.
    let http3: HTTP3Place?
    /// The timeouts of the first request, which most others have too.
    let limits: TransferLimits
    private let timeouts: Timeouts
    private let maximumBodyBytes: Int
    /// The place of the connections, once a request has gone there.
    var destination: Destination?

    init(
        _ request: TransportRequest, origin: Origin, clock: LoopClock, trustsAnyServer: Bool,
        http3: HTTP3Place? = nil, support: LibcurlSupport = Libcurl.found
    ) {
        let options = request.options
        self.http3 = http3
        (groups, self.origin, self.clock) = (options.groupsAlone, origin, clock)
        self.trustsAnyServer = trustsAnyServer
        (limits, timeouts) = (TransferLimits(options), Timeouts(options))
        maximumBodyBytes = options.maximumBodyBytes
        key = ConnectionKey(options, isSecure: origin.isSecure, support: support)
        isPausable = support.isPausable(key.version)
        asksForHTTP1 = key.version == .http1_1 || key.version == .http1_0
        mayTunnel = ProxyOption.mayTunnel(options)
        connectTimeout = ConnectTimeoutOption(
            timeout: options.connectTimeout, needsEnd: key.looksUpOverHTTPS || mayTunnel)
        maySendOverTLS = origin.isSecure || ProxyOption.maySpeakTLS(options)
        looksUpBehindProxy = ProxyOption.takesAddresses(options)
        keepsHandles = support.keepsHandles && !mayTunnel && options.wireLog == nil && options.mayLeaveHandles
    }
}

/// The timeouts of a request.
private struct Timeouts: Equatable {
    let idle: Duration?
    let firstByte: Duration?
    let total: Duration?

    init(_ options: TransportOptions) {
        (idle, firstByte, total) = (options.idleTimeout, options.firstByteTimeout, options.totalTimeout)
    }
}

extension Plan {
    /// Returns whether a request of this plan has the limits of its first one, which were checked.
    func hasLimits(of options: TransportOptions) -> Bool {
        Timeouts(options) == timeouts && options.maximumBodyBytes == maximumBodyBytes
    }
}

extension TransportOptions {
    /// Whether no option leaves more in a handle than the next request sets itself.
    fileprivate var mayLeaveHandles: Bool {
        guard hasRareOptions else { return true }
        return rate == Rate() && names == Names() && tls.serverName == nil && !connection.isFresh
            && !connection.forbidsReuse && proxy == .environment
    }
}

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
        switch options.proxy {
        case .none: return true
        case .environment: return !NoProxyOption.mayBeNamed
        case .explicit: return false
        }
    }
}
