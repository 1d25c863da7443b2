import NetworkCore

/// The deadlines of one exchange. Pure, like ``ExchangeState``, of which it is a part.
struct ExchangeClock {
    typealias Instant = ContinuousClock.Instant

    /// The outcome of a check of the time.
    enum Verdict {
        case proceed
        /// Find out whether there is a connection at that time or later, and report it to
        /// ``connectionChecked(isOpen:at:)``.
        case checkConnection(Instant)
        case fail(NetworkError)
    }

    let startedAt: Instant
    private(set) var isConnected = false
    private let options: TransportOptions
    private var movedAt: Instant
    private var drainDeadline: Instant?

    init(_ options: TransportOptions, at now: Instant) {
        self.options = options
        startedAt = now
        movedAt = now
    }

    /// Records progress, which proves a connection.
    mutating func moved(at now: Instant) {
        isConnected = true
        movedAt = now
    }

    /// Records that the body is no longer read; the rest may arrive until then.
    mutating func drain(until deadline: Instant) { drainDeadline = deadline }

    /// When the next deadline is due; `nil` for never.
    var nextDeadline: Instant? {
        [totalDeadline, drainDeadline, isConnected ? nil : connectDeadline, idleDeadline].compactMap { $0 }.min()
    }

    /// Returns whether the total timeout is over.
    func isOver(at now: Instant) -> Bool { totalDeadline.map { $0 <= now } ?? false }

    /// Returns what is due now.
    func verdict(at now: Instant) -> Verdict {
        if let totalDeadline, now >= totalDeadline { return .fail(.timeout(.totalTimeout, of: options)) }
        if let drainDeadline, now >= drainDeadline { return .fail(.cancelled) }
        guard isConnected else {
            let due = [connectDeadline, idleDeadline].compactMap(\.self).filter { $0 <= now }.max()
            return due.map { .checkConnection($0) } ?? .proceed
        }
        return idleDeadline.map { now >= $0 } ?? false ? .fail(.timeout(.idleTimeout, of: options)) : .proceed
    }

    /// Records the result of ``Verdict/checkConnection``.
    /// - Returns: Why the exchange must end, or `nil`.
    mutating func connectionChecked(isOpen: Bool, at now: Instant) -> NetworkError? {
        // Progress may have proved a connection in the meantime.
        guard !isConnected else { return nil }
        if isOpen {
            isConnected = true
            if case .fail(let error) = verdict(at: now) { return error }
            return nil
        }
        if let connectDeadline, now >= connectDeadline { return .timeout(.connectTimeout, of: options) }
        // Nothing is idle before it is connected.
        movedAt = now
        return nil
    }

    private var totalDeadline: Instant? { options.totalTimeout.map { startedAt + $0 } }
    private var connectDeadline: Instant? { options.connectTimeout.map { startedAt + $0 } }
    private var idleDeadline: Instant? { options.idleTimeout.map { movedAt + $0 } }
}
