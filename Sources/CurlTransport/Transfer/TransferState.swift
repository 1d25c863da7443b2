import NetworkCore

/// The state of one transfer that the callbacks need. Pure: each callback reports an event and returns the result to
/// libcurl. The body's bytes and their flow are in ``ExchangeChannel``.
struct TransferState {
    private(set) var head = ResponseHeadBuffer()
    private(set) var hasBody = false
    /// Whether a byte of the final response has arrived. The first-byte timeout does not count interim responses (1xx),
    /// nor responses after which the request went out again.
    var hasFinalResponse: Bool { hasBody || head.hasBegunFinal && !awaitsNextHead }
    /// Whether the request has gone out again since the current head.
    private var awaitsNextHead = false
    /// When the request last went out, where libcurl reports it (7.80).
    private(set) var wentOut: MonotonicTime?
    /// Whether a byte of the response has arrived.
    var hasResponse: Bool { hasBody || !head.bytes.isEmpty && !awaitsNextHead }
    /// Why we end the transfer; takes precedence over what libcurl then reports.
    private(set) var failure: (any Error)?
    /// The time of the last progress.
    var lastActivity: MonotonicTime
    /// How many bytes of the request's body the server had by then.
    private var sentBytes = 0

    private var framing: ResponseFraming
    /// Whether the connection must carry no other request, since the head can be read in two ways.
    var doubtsFraming: Bool { framing.isDoubtful }
    /// Whether libcurl may discard bytes that follow the response or its head.
    var mayHideSurplus: Bool { framing.mayHideSurplus }

    /// Records a CR within a line, which some recipients take for the line's end (RFC 9112 §2.2).
    mutating func receivedBareCR() { framing.doubt() }

    /// - Parameter speaksHTTP1: Whether the connection certainly speaks HTTP/1.
    init(now: MonotonicTime, speaksHTTP1: Bool = false) {
        lastActivity = now
        framing = ResponseFraming(mustBeHTTP1: speaksHTTP1)
    }

    /// The maximum number of lines in a response's heads, interim ones (1xx) and trailers included. libcurl keeps a
    /// record of each field and takes as long for one of three bytes as for a long one, so this number limits how long
    /// a response occupies the loop.
    static let maximumHeaderLines = 4_096
    private var headerLines = 0

    /// The verdict on a header line.
    enum HeaderVerdict { case goOn, headIsComplete, stop }

    /// Processes a header line, including its line ending.
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
            return head.hasFinalHead && !wasComplete ? .headIsComplete : .goOn
        }
        let problem =
            head.hasTooManyHeads
            ? "the response has more than \(ResponseHeadBuffer.maximumHeads) heads, 1xx ones included"
            : "the response's head is larger than \(ResponseHeadBuffer.maximumBytes) bytes"
        failure = NetworkError(.responseHeadTooLarge, problem, phase: .receiving)
        return .stop
    }

    /// Whether a line that looks like a status line is one: the first line, one after an interim response, and one
    /// after the request has gone out again. Where libcurl does not report that (below 7.80, or before a tunnel is
    /// open), any line after a complete head. Otherwise it is a field with a strange name, or a trailer.
    private var mayBegin: Bool {
        guard !hasBody, !awaitsNextHead, !head.bytes.isEmpty else { return !hasBody }
        return head.isComplete && (head.isInterim || wentOut == nil)
    }

    /// Records that the request goes out, possibly again: after a challenge, or because its connection was lost.
    mutating func goesOut(at now: MonotonicTime) {
        wentOut = now
        lastActivity = max(lastActivity, now)
        awaitNextHead()
    }

    /// Records that the current head is not the last: the request goes out again.
    mutating func awaitNextHead() {
        awaitsNextHead = !head.bytes.isEmpty
        headerLines = 0
    }

    /// Processes a chunk of the body.
    /// - Returns: Whether the body is still wanted.
    mutating func receiveBody(at now: MonotonicTime) -> Bool {
        guard failure == nil else { return false }
        lastActivity = now
        hasBody = true
        return true
    }

    /// Records how many bytes of the request's body the server has. libcurl requests them a buffer at a time, and the
    /// system holds megabytes, which a slow connection may take longer to drain than the idle timeout.
    mutating func sent(_ bytes: Int, by now: MonotonicTime) {
        if bytes != sentBytes { (sentBytes, lastActivity) = (bytes, max(lastActivity, now)) }
    }

    /// Ends the transfer from our side. Only the first reason counts.
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
                "the response has a transfer coding besides chunked, and the request allows none", phase: .receiving)
        case .ambiguous:
            NetworkError(
                .invalidResponse,
                "the response's Transfer-Encoding or Content-Length can be read in two ways", phase: .receiving)
        case .length: unusable("its Content-Length is not a number that can be used")
        case .twoLengths: unusable("it has two different Content-Length values")
        case .status: unusable("its status line is malformed")
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
    mutating func admit(at now: MonotonicTime) { admitted = max(now, sent) }

    /// Records that the transfer returns to the queue.
    mutating func returnToQueue() { (admitted, connectsSince, waitsForLookUpSince) = (nil, nil, nil) }

    /// Records that the transfer connects again, with a full connect timeout.
    mutating func connectAnew(at now: MonotonicTime) { connectsSince = now }

    /// Gives the rest of an unwanted body until `deadline`, to keep the connection.
    mutating func drain(until deadline: MonotonicTime) { drainDeadline = deadline }

    /// The number of checks within one idle timeout: progress gets the time of the check that sees it.
    private static let looksWhileSending: Int64 = 8
    /// The number of checks within one connect timeout of a transfer that is not admitted: nothing else shows that it
    /// no longer waits for a place but for a lookup.
    private static let looksWhileWaiting: Int64 = 4

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
    mutating func check(
        at now: MonotonicTime, isConnected: Bool, lastActivity: MonotonicTime, isSending: Bool = false,
        waitsSince: MonotonicTime? = nil, waitsForLookUp: Bool = false
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
                next = min(next, now + connect.part(of: Self.looksWhileWaiting))
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
