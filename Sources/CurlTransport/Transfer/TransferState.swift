import NetworkCore

/// What has arrived of one transfer and whether more is welcome. Pure: the callbacks ask, the answer is what they return
/// to libcurl.
struct TransferState {
    /// The most decoded bytes of body.
    let bodyLimit: Int
    private(set) var head = ResponseHeadBuffer()
    private(set) var bodyBytes = 0
    /// Why the transfer must end, if we decided so; it counts more than what libcurl then reports.
    private(set) var failure: NetworkError?
    /// When something moved last.
    var lastActivity: MonotonicTime

    init(bodyLimit: Int, now: MonotonicTime) {
        self.bodyLimit = bodyLimit
        lastActivity = now
    }

    /// A header line, its end included.
    /// - Returns: Whether to go on.
    mutating func receive(headerLine: some Collection<UInt8>, at now: MonotonicTime) -> Bool {
        guard failure == nil else { return false }
        lastActivity = now
        if head.append(line: headerLine, afterBody: bodyBytes > 0) { return true }
        failure = NetworkError(
            .responseHeadTooLarge,
            "the response's head is larger than \(ResponseHeadBuffer.maximumBytes) bytes",
            phase: .receiving
        )
        return false
    }

    /// Decoded bytes of body.
    /// - Returns: Whether to take them.
    mutating func receive(bodyBytes count: Int, at now: MonotonicTime) -> Bool {
        guard failure == nil else { return false }
        lastActivity = now
        guard count <= bodyLimit - bodyBytes else {
            failure = .bodyTooLarge(limit: bodyLimit)
            return false
        }
        bodyBytes += count
        return true
    }

    /// Ends it from our side. The first reason counts.
    mutating func fail(_ error: NetworkError) {
        if failure == nil { failure = error }
    }
}

/// The three clocks of one transfer.
struct TransferClocks {
    let sent: MonotonicTime
    private(set) var admitted: MonotonicTime?
    private let options: TransportOptions

    init(sent: MonotonicTime, options: TransportOptions) {
        self.sent = sent
        self.options = options
    }

    /// - Parameter now: The round's clock, which may be a little older than the transfer.
    mutating func admit(at now: MonotonicTime) { admitted = max(now, sent) }

    /// What to do when the clocks are looked at.
    enum Verdict: Equatable {
        case fail(NetworkError.Code)
        case lookAgain(MonotonicTime)
        case neverAgain
    }

    /// Looks at the clocks.
    /// - Parameters:
    ///   - isConnected: Whether the connection can be used; asked only when it matters.
    ///   - lastActivity: When something moved last.
    func check(at now: MonotonicTime, isConnected: Bool, lastActivity: MonotonicTime) -> Verdict {
        if let total = options.totalTimeout.map({ sent + $0 }), total <= now { return .fail(.totalTimeout) }
        if let admitted, !isConnected, let connect = options.connectTimeout.map({ admitted + $0 }), connect <= now {
            return .fail(.connectTimeout)
        }
        if isConnected, let idle = options.idleTimeout.map({ lastActivity + $0 }), idle <= now {
            return .fail(.idleTimeout)
        }
        var next = options.totalTimeout.map { sent + $0 }
        func consider(_ time: MonotonicTime?) {
            if let time { next = min(next ?? time, time) }
        }
        if let admitted {
            if !isConnected { consider(options.connectTimeout.map { admitted + $0 }) }
            // While it connects nothing is idle yet, but it may be connected by the time an idle connection would be due.
            consider(options.idleTimeout.map { (isConnected ? lastActivity : now) + $0 })
        }
        return next.map { .lookAgain($0) } ?? .neverAgain
    }
}
