import NetworkCore

/// The connection's options (CURLOPT_FRESH_CONNECT, FORBID_REUSE, IPRESOLVE, UNIX_SOCKET_PATH, INTERFACE, LOCALPORT,
/// TCP_KEEPALIVE, HAPPY_EYEBALLS_TIMEOUT_MS).
struct ConnectionOption: EasyOption {
    let request: TransportRequest
    private var options: TransportOptions.Connection { request.options.connection }

    func apply(to easy: EasyHandle) throws {
        if options.isFresh { try easy.set(.freshConnect, 1) }
        if options.forbidsReuse { try easy.set(.forbidReuse, 1) }
        if options.ipVersion != .any { try easy.set(.ipResolve, OptionValue.ipResolve(options.ipVersion)) }
        switch options.unixSocket {
        case nil: break
        case .path(let path): try easy.set(.unixSocketPath, path)
        case .abstract(let name): try easy.set(.abstractUnixSocket, name)
        }
        if let interface = options.interface {
            // With the prefix, libcurl does not take an unknown interface for a host, whose lookup would block the
            // loop.
            try easy.set(.interface, (AddressPolicy.Address(interface) == nil ? "if!" : "host!") + interface)
        }
        if let ports = options.localPorts {
            try easy.set(.localPort, ports.lowerBound)
            try easy.set(.localPortRange, ports.count)
        }
        if let keepAlive = options.keepAlive {
            try easy.set(.tcpKeepAlive, 1)
            try easy.set(.tcpKeepIdle, keepAlive.idle.wholeSeconds)
            try easy.set(.tcpKeepInterval, keepAlive.interval.wholeSeconds)
            if let probes = keepAlive.probes { try easy.set(.tcpKeepCount, probes) }
        }
        if let delay = options.happyEyeballsDelay { try easy.set(.happyEyeballs, delay.roundedUpMilliseconds) }
    }
}

/// Ends a transfer when its connection is open, before any request, and leaves the connection in the pool.
///
/// A connection of CURLOPT_CONNECT_ONLY serves no other transfer, and libcurl closes one whose CURLOPT_PREREQFUNCTION
/// refuses the request. A condition on an impossible date (CURLOPT_TIMECONDITION, TIMEVALUE_LARGE) fails where libcurl
/// puts the request together: after the connection is made, before a byte is sent, and not as a fault of the
/// connection.
struct PrewarmOption: EasyOption {
    func apply(to easy: EasyHandle) throws {
        try easy.set(.timeCondition, OptionValue.ifModifiedSince)
        try easy.set(.timeValue, .max)
    }
}

extension EasyHandle {
    /// Keeps a transfer alive until its name lookup ends, however long that takes, and then fails it before a byte of
    /// its request is sent. libcurl's own connect timeout would end the lookup and leave its thread behind.
    /// - Returns: Whether the handle accepted the options.
    func canOutlastLookUp() -> Bool {
        do {
            // CURLOPT_PREREQFUNCTION refuses the request.
            try set(.connectTimeout, Int(Int32.max))
            isMarked = true
            return true
        } catch { return false }
    }
}

/// The bandwidth limits (CURLOPT_MAX_RECV_SPEED_LARGE, MAX_SEND_SPEED_LARGE, LOW_SPEED_LIMIT, LOW_SPEED_TIME).
struct RateOption: EasyOption {
    let options: TransportOptions.Rate

    func apply(to easy: EasyHandle) throws {
        if let rate = options.maximumReceivedPerSecond { try easy.set(.maxReceiveSpeed, rate) }
        if let rate = options.maximumSentPerSecond { try easy.set(.maxSendSpeed, rate) }
        if let lowSpeed = options.lowSpeed {
            try easy.set(.lowSpeedLimit, lowSpeed.bytesPerSecond)
            try easy.set(.lowSpeedTime, lowSpeed.duration.wholeSeconds)
        }
    }
}

extension TransportRequest {
    /// Whether the request may be executed twice.
    var mayRepeat: Bool { method.isIdempotent || options.hasRareOptions && options.connection.repeatsAnyMethod }
}

extension Duration {
    /// The duration in whole seconds, rounded up.
    var wholeSeconds: Int { Int(components.seconds) + (components.attoseconds > 0 ? 1 : 0) }
}
