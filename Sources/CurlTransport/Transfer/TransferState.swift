import NetworkCore

/// What the callbacks have to know of one transfer. Pure: they ask, the answer is what they return to libcurl. The
/// body's bytes and their flow are ``ExchangeChannel``'s.
struct TransferState {
    private(set) var head = ResponseHeadBuffer()
    private(set) var hasBody = false
    /// Whether libcurl answers challenges itself, so that a 401 or 407 may not be the last head.
    private let answersChallenges: Bool
    /// Whether a head is complete and not told yet, since libcurl may go on to another.
    private(set) var isHeadHeld = false
    /// Whether a byte of the final response has arrived: interim ones (1xx), and those after which the request went out
    /// again, are not what the first byte's timeout waits for.
    var hasFinalResponse: Bool { hasBody || head.hasBegunFinal && !awaitsNextHead }
    /// Whether the request has gone out again since the head that is there.
    private var awaitsNextHead = false
    /// When the request went out last, where libcurl tells (7.80).
    private(set) var wentOut: MonotonicTime?
    /// Whether a byte of the response has arrived.
    var hasResponse: Bool { hasBody || !head.bytes.isEmpty && !awaitsNextHead }
    /// Why the transfer must end, if we decided so; it counts more than what libcurl then reports.
    private(set) var failure: (any Error)?
    /// When something moved last.
    var lastActivity: MonotonicTime
    /// How many bytes of the request's body the server had by then.
    private var sentBytes = 0

    private var framing: ResponseFraming
    /// Whether the connection must carry no other request, since what the head says can be read in two ways.
    var doubtsFraming: Bool { framing.isDoubtful }
    /// Whether libcurl may throw away what follows the response, or the head at the end of which it is.
    var mayHideSurplus: Bool { framing.mayHideSurplus }

    /// A line has a CR within, which some take for its end (RFC 9112 §2.2).
    mutating func receivedBareCR() { framing.doubt() }

    /// - Parameter speaksHTTP1: Whether the connection speaks HTTP/1 for certain.
    init(now: MonotonicTime, answersChallenges: Bool = false, speaksHTTP1: Bool = false) {
        lastActivity = now
        framing = ResponseFraming(mustBeHTTP1: speaksHTTP1)
        self.answersChallenges = answersChallenges
    }

    /// The most lines of a response's heads, interim ones (1xx) and trailers included. libcurl keeps a record of each
    /// field, and takes as long for one of three bytes as for a long one: the number bounds how long a response keeps
    /// the loop.
    static let maximumHeaderLines = 4_096
    private var headerLines = 0

    /// What a header line comes to.
    enum HeaderVerdict { case goOn, headIsComplete, stop }

    /// A header line, its end included.
    mutating func receive(headerLine: some RandomAccessCollection<UInt8>, at now: MonotonicTime) -> HeaderVerdict {
        guard failure == nil else { return .stop }
        let begins = headerLine.first == UInt8(ascii: "H") && mayBegin && headerLine.starts(with: "HTTP/".utf8)
        headerLines += 1
        let expectsStatusLine = awaitsNextHead || head.bytes.isEmpty || head.isComplete && head.isInterim
        if begins { awaitsNextHead = false }
        guard headerLines <= Self.maximumHeaderLines else {
            failure = NetworkError(
                .responseHeadTooLarge, "the response's heads have more than \(Self.maximumHeaderLines) lines",
                phase: .receiving)
            return .stop
        }
        lastActivity = now
        let fault =
            begins || expectsStatusLine
            ? framing.begin(headerLine) : framing.fault(in: headerLine, isTrailer: head.hasFinalHead)
        if let fault {
            failure = NetworkError.badFraming(fault)
            return .stop
        }
        if !begins, head.appendField(headerLine) { return .goOn }
        let wasComplete = head.hasFinalHead
        if head.append(line: headerLine, begins: begins) {
            guard head.hasFinalHead else {
                // Another head begins.
                isHeadHeld = false
                return .goOn
            }
            guard !wasComplete else { return .goOn }
            isHeadHeld = answersChallenges && head.isChallenge
            return isHeadHeld ? .goOn : .headIsComplete
        }
        let problem =
            head.hasTooManyHeads
            ? "the response has more than \(ResponseHeadBuffer.maximumHeads) heads, 1xx ones included"
            : "the response's head is larger than \(ResponseHeadBuffer.maximumBytes) bytes"
        failure = NetworkError(.responseHeadTooLarge, problem, phase: .receiving)
        return .stop
    }

    /// Whether a line that looks like a status line is one: the first, one after an interim response, and one of a
    /// request that has gone out again. Where libcurl does not tell of that (below 7.80, or before a tunnel stands),
    /// any after a whole head. Else it is a field by a strange name, or a trailer.
    private var mayBegin: Bool {
        guard !hasBody, !awaitsNextHead, !head.bytes.isEmpty else { return !hasBody }
        return head.isComplete && (head.isInterim || wentOut == nil)
    }

    /// The request goes out, maybe once more: to answer a challenge, or since its connection was lost.
    mutating func goesOut(at now: MonotonicTime) {
        wentOut = now
        lastActivity = max(lastActivity, now)
        awaitNextHead()
    }

    /// The head that is there is not the last: the request goes out once more.
    mutating func awaitNextHead() {
        awaitsNextHead = !head.bytes.isEmpty
        headerLines = 0
    }

    /// The head that is complete may not be the last: libcurl may send the request again.
    mutating func holdHead() { isHeadHeld = true }

    /// A piece of the body.
    /// - Returns: Whether it is still wanted.
    mutating func receiveBody(at now: MonotonicTime) -> Bool {
        guard failure == nil else { return false }
        lastActivity = now
        hasBody = true
        return true
    }

    /// How many bytes of the request's body the server has. libcurl asks for them a buffer at a time and the system
    /// holds megabytes, which a slow connection may take longer to empty than the idle timeout.
    mutating func sent(_ bytes: Int, by now: MonotonicTime) {
        if bytes != sentBytes { (sentBytes, lastActivity) = (bytes, max(lastActivity, now)) }
    }

    /// The head that was held is the last one after all: its body comes, or the end.
    /// - Returns: Whether there is one.
    mutating func releaseHead() -> Bool {
        defer { isHeadHeld = false }
        return isHeadHeld
    }

    /// Ends it from our side. The first reason counts.
    mutating func fail(_ error: any Error) {
        if failure == nil { failure = error }
    }
}

extension NetworkError {
    private static func unusable(_ reason: String) -> NetworkError {
        NetworkError(.invalidResponse, "the response can't be used: \(reason)", phase: .receiving)
    }

    fileprivate static func badFraming(_ fault: ResponseFraming.Fault) -> NetworkError {
        switch fault {
        case .coding:
            NetworkError(
                .invalidContentEncoding,
                "the response has a transfer coding besides chunked, and none was asked for", phase: .receiving)
        case .ambiguous:
            NetworkError(
                .invalidResponse,
                "the response's Transfer-Encoding or Content-Length can be read in two ways", phase: .receiving)
        case .length: unusable("its Content-Length is not a number that can be used")
        case .twoLengths: unusable("it has two different Content-Length values")
        case .status: unusable("its status line is not one")
        case .version: unusable("its status line names a version of HTTP that this connection does not speak")
        }
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
        idle = options.idleTimeout.map(Nanoseconds.init)
        firstByte = options.firstByteTimeout.map(Nanoseconds.init)
        total = options.totalTimeout.map(Nanoseconds.init)
    }
}

/// The clocks of one transfer.
struct TransferClocks {
    let sent: MonotonicTime
    private(set) var admitted: MonotonicTime?
    private let limits: TransferLimits
    private let totalDeadline: MonotonicTime?
    /// When it began to connect, if that was not when it was admitted.
    private var connectsSince: MonotonicTime?
    /// When a body that nobody wants must have ended.
    private var drainDeadline: MonotonicTime?

    init(sent: MonotonicTime, limits: TransferLimits) {
        self.sent = sent
        self.limits = limits
        totalDeadline = limits.total.map { sent + $0 }
    }

    init(sent: MonotonicTime, options: TransportOptions) { self.init(sent: sent, limits: TransferLimits(options)) }

    /// - Parameter now: The round's clock, which may be a little older than the transfer.
    mutating func admit(at now: MonotonicTime) { admitted = max(now, sent) }

    /// It connects once more, which has a time of its own.
    mutating func connectAnew(at now: MonotonicTime) { connectsSince = now }

    /// Nobody wants the body any more; what is left of it may take that long, for the connection's sake.
    mutating func drain(until deadline: MonotonicTime) { drainDeadline = deadline }

    /// So many looks in one idle timeout: what has moved is dated by the look that sees it.
    private static let looksWhileSending: Int64 = 8

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
    ///   - isSending: Whether a body goes out, whose movement is seen by looking.
    ///   - waitsSince: When the connection could be used, while nothing of the response has come.
    ///   - waitsForLookUp: Whether it waits for another transfer to resolve its host's name, which is a part of
    ///     connecting.
    func check(
        at now: MonotonicTime, isConnected: Bool, lastActivity: MonotonicTime, isSending: Bool = false,
        waitsSince: MonotonicTime? = nil, waitsForLookUp: Bool = false
    ) -> Verdict {
        if let totalDeadline, totalDeadline <= now { return .fail(.totalTimeout) }
        if let drainDeadline, drainDeadline <= now { return .fail(.cancelled) }
        var next = MonotonicTime.distantFuture
        if let totalDeadline { next = totalDeadline }
        if let drainDeadline { next = min(next, drainDeadline) }
        if admitted == nil, waitsForLookUp, let connect = limits.connect {
            if sent + connect <= now { return .fail(.connectTimeout) }
            next = min(next, sent + connect)
        }
        if let admitted {
            if !isConnected, let connect = limits.connect {
                let deadline = (connectsSince ?? admitted) + connect
                if deadline <= now { return .fail(.connectTimeout) }
                next = min(next, deadline)
            }
            // While it connects nothing is idle yet, but it may be connected by the time an idle connection would be
            // due.
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
