import NetworkCore

/// Where a transfer is between its arrival at the loop and its end. Pure: the loop reports what happens, and the stage
/// says what may happen next. `Loop/TransferLife+Admission.swift` has the events that ``Admission`` counts.
enum TransferLife: Equatable {
    /// Not with the loop: the transfer has not arrived yet, or has ended.
    case outside
    /// In the queue.
    case waiting
    /// Past the queue: ``Admission`` counts the transfer as running until its end, and as a lookup while `isLookingUp`.
    case admitted(Stage, isLookingUp: Bool)

    enum Stage: Equatable {
        /// Not in libcurl.
        case ready
        /// In libcurl. `again` says how the transfer begins again once libcurl reports this run as done.
        case running(again: Again?)
        /// In libcurl until the lookup of its name ends, although its caller has its result.
        case lingering
    }

    /// How a transfer begins again.
    enum Again: Equatable {
        /// At once, over a new connection: the one that libcurl chose can't be used, or the server has refused the
        /// request's `Expect`.
        case overNewConnection
        /// In its turn, from the queue: its name needs a lookup after all.
        case fromTheQueue
    }

    var isReady: Bool { if case .admitted(.ready, _) = self { true } else { false } }

    var isLookingUp: Bool { if case .admitted(_, isLookingUp: true) = self { true } else { false } }

    var isLingering: Bool { if case .admitted(.lingering, _) = self { true } else { false } }

    var isInLibcurl: Bool {
        switch self {
        case .outside, .waiting, .admitted(.ready, _): false
        case .admitted(.running, _), .admitted(.lingering, _): true
        }
    }

    /// How the transfer begins again after this run; `nil` if it ends.
    var again: Again? { if case .admitted(.running(let again), _) = self { again } else { nil } }

    /// Records that the transfer is in libcurl.
    mutating func begin() {
        guard case .admitted(.ready, let isLookingUp) = self else { return assertionFailure("begins while \(self)") }
        self = .admitted(.running(again: nil), isLookingUp: isLookingUp)
    }

    /// Records that the transfer has left libcurl, to begin again.
    mutating func leaveLibcurl() {
        guard case .admitted(.running, let isLookingUp) = self else { return assertionFailure("leaves while \(self)") }
        self = .admitted(.ready, isLookingUp: isLookingUp)
    }

    /// Lets the transfer begin again after this run, unless its caller has its result.
    mutating func beginAgain(_ again: Again) {
        guard case .admitted(.running, let isLookingUp) = self else { return }
        self = .admitted(.running(again: again), isLookingUp: isLookingUp)
    }
}

/// The timeouts of a transfer; `nil` for none.
struct TransferLimits: Sendable {
    let connect: Nanoseconds?
    let idle: Nanoseconds?
    let firstByte: Nanoseconds?
    let total: Nanoseconds?

    init(_ options: TransportOptions) {
        connect = options.connectTimeout.map(Nanoseconds.init)
        idle = options.idleTimeout.map { Nanoseconds($0 + Self.pause(of: options)) }
        firstByte = options.firstByteTimeout.map(Nanoseconds.init)
        total = options.totalTimeout.map(Nanoseconds.init)
    }

    /// Returns how long libcurl may pause to keep a rate: it moves up to 100 KiB at once and waits then, in newer
    /// versions for twice the time that the rate asks for.
    static func pause(of options: TransportOptions) -> Duration {
        guard options.hasRareOptions else { return .zero }
        let rates = [options.rate.maximumReceivedPerSecond, options.rate.maximumSentPerSecond].compactMap(\.self)
        return rates.filter { $0 > 0 }.min().map { .seconds(Double(256 << 10) / Double($0)) } ?? .zero
    }
}

/// The clocks of one transfer.
struct TransferClocks {
    let sent: MonotonicTime
    private(set) var admitted: MonotonicTime?
    /// When the transfer got its handle: libcurl counts its times from then.
    private(set) var begun: MonotonicTime?
    private let limits: TransferLimits
    private let totalDeadline: MonotonicTime?
    /// When the transfer began to connect, if not when it was admitted.
    private var connectsSince: MonotonicTime?
    /// Since when the transfer, which is not admitted, waits for a lookup.
    private var waitsForLookUpSince: MonotonicTime?
    /// When a body that is no longer wanted must have ended.
    private var drainDeadline: MonotonicTime?

    init(sent: MonotonicTime, limits: TransferLimits) {
        self.sent = sent
        self.limits = limits
        totalDeadline = limits.total.map { sent + $0 }
    }

    init(sent: MonotonicTime, options: TransportOptions) { self.init(sent: sent, limits: TransferLimits(options)) }

    /// - Parameter now: The round's clock, which may be slightly older than the transfer.
    mutating func admit(at now: MonotonicTime) {
        admitted = max(now, sent)
        begun = admitted
    }

    /// Records that the transfer returns to the queue.
    mutating func returnToQueue() { (admitted, begun, connectsSince, waitsForLookUpSince) = (nil, nil, nil, nil) }

    /// Records that the transfer connects again, with a full connect timeout.
    mutating func connectAnew(at now: MonotonicTime) { connectsSince = now }

    /// Records that another handle connects, with a full connect timeout.
    mutating func beginAgain(at now: MonotonicTime) { (begun, connectsSince) = (now, now) }

    /// Gives the rest of an unwanted body until `deadline`, to keep the connection.
    mutating func drain(until deadline: MonotonicTime) { drainDeadline = deadline }

    /// Whether the rest of the body is discarded.
    var isDraining: Bool { drainDeadline != nil }

    /// The number of checks within one idle timeout: progress gets the time of the check that sees it.
    private static let looksWhileSending: Int64 = 8
    /// The number of checks within one connect timeout of a transfer that is not admitted: nothing else shows that it
    /// no longer waits for a place but for a lookup.
    private static let looksWhileWaiting: Int64 = 4
    /// The shortest time between two of these checks, for each transfer that waits: all of them together make 50,000
    /// checks a second at most.
    private static let lookPerWaiting = Nanoseconds(.microseconds(20))

    /// The outcome of a check of the clocks.
    enum Verdict: Equatable {
        case fail(NetworkError.Code)
        case lookAgain(MonotonicTime)
        case neverAgain
    }

    /// Checks the clocks.
    /// - Parameters:
    ///   - isConnected: Whether the connection is usable.
    ///   - lastActivity: The time of the last progress.
    ///   - isSending: Whether a request body is going out, whose progress only a check can see.
    ///   - waitsSince: When the connection became usable, while no byte of the response has arrived.
    ///   - waitsForLookUp: Whether the transfer, which is not admitted, waits for another one to resolve its host's
    ///     name, which is part of connecting, and not for a place.
    ///   - waiting: The number of transfers that wait.
    mutating func check(
        at now: MonotonicTime, isConnected: Bool, lastActivity: MonotonicTime, isSending: Bool = false,
        waitsSince: MonotonicTime? = nil, waitsForLookUp: Bool = false, waiting: Int = 0
    ) -> Verdict {
        if let totalDeadline, totalDeadline <= now { return .fail(.totalTimeout) }
        if let drainDeadline, drainDeadline <= now { return .fail(.cancelled) }
        var next = MonotonicTime.distantFuture
        if let totalDeadline { next = totalDeadline }
        if let drainDeadline { next = min(next, drainDeadline) }
        if admitted == nil, let connect = limits.connect {
            waitsForLookUpSince = waitsForLookUp ? waitsForLookUpSince ?? now : nil
            if let waitsForLookUpSince {
                if waitsForLookUpSince + connect <= now { return .fail(.connectTimeout) }
                next = min(next, waitsForLookUpSince + connect)
            } else {
                next = min(
                    next, max(now + connect.part(of: Self.looksWhileWaiting), now + Self.lookPerWaiting.times(waiting)))
            }
        }
        if let admitted {
            if !isConnected, let connect = limits.connect {
                let deadline = (connectsSince ?? admitted) + connect
                if deadline <= now { return .fail(.connectTimeout) }
                next = min(next, deadline)
            }
            // Nothing is idle while it connects, but it may be connected by the time the idle timeout would expire.
            if let idle = limits.idle {
                if isConnected, lastActivity + idle <= now { return .fail(.idleTimeout) }
                next = min(next, (isConnected ? lastActivity : now) + idle)
                if isSending { next = min(next, now + idle.part(of: Self.looksWhileSending)) }
            }
            if let firstByte = limits.firstByte {
                if let waitsSince, waitsSince + firstByte <= now { return .fail(.firstByteTimeout) }
                if let waits = isConnected ? waitsSince : now { next = min(next, waits + firstByte) }
            }
        }
        return next == .distantFuture ? .neverAgain : .lookAgain(next)
    }
}
