import NetworkCore

/// The state of one transfer that the callbacks need. Pure: each callback reports an event and returns the result to
/// libcurl. The body's bytes and their flow are in ``ExchangeChannel``.
struct ResponseState {
    private(set) var head = ResponseHeadBuffer()
    private(set) var hasBody = false
    /// Whether a byte of the final response has arrived. The first-byte timeout does not count interim responses (1xx),
    /// nor responses after which the request went out again.
    var hasFinalResponse: Bool { hasBody || head.hasBegunFinal && !awaitsNextHead }
    /// Whether the request has gone out again since the current head.
    private var awaitsNextHead = false
    /// When the request last went out; `nil` while a tunnel is not open yet.
    private(set) var wentOut: MonotonicTime?
    /// When the first line of the last response arrived.
    private(set) var responded: MonotonicTime?
    /// Whether a byte of the response has arrived.
    var hasResponse: Bool { hasBody || !head.bytes.isEmpty && !awaitsNextHead }
    /// Why we end the transfer; takes precedence over what libcurl then reports.
    private(set) var failure: (any Error)?
    /// The time of the last progress.
    var lastActivity: MonotonicTime
    /// How many bytes of the request's body the server had by then.
    private var sentBytes = 0

    private var framing: ResponseFraming
    /// What the scan of the last whole head has found.
    private var scan: ResponseHeadScan?
    /// The last head, which is whole.
    var wholeHead: WholeHead { WholeHead(bytes: head.bytes, scan: scan) }
    /// Whether the connection must carry no other request, since the head can be read in two ways.
    var doubtsFraming: Bool { framing.isDoubtful }
    /// The head of an interim response, which is whole.
    var interimHead: [UInt8]? { head.isComplete && head.isInterim && failure == nil ? head.bytes : nil }
    /// The body's length in bytes on the wire, if the head says it.
    var bodyLength: Int? { framing.bodyLength }
    /// Whether libcurl may discard bytes that follow the response or its head.
    var mayHideSurplus: Bool { framing.mayHideSurplus }

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
    enum HeaderVerdict { case proceed, headIsComplete, stop }

    /// Takes a field's line within a head, as most lines are. The head is judged once it is whole.
    /// - Returns: `false` for any other line, which ``receive(headerLine:at:)`` must process.
    mutating func receive(field line: BorrowedBytes, at now: MonotonicTime) -> Bool {
        guard failure == nil, !awaitsNextHead, headerLines < Self.maximumHeaderLines, head.appendField(line) else {
            return false
        }
        headerLines += 1
        lastActivity = now
        return true
    }

    /// Processes a header line, including its line ending.
    mutating func receive(headerLine: some RandomAccessCollection<UInt8>, at now: MonotonicTime) -> HeaderVerdict {
        guard failure == nil else { return .stop }
        let begins = headerLine.first == UInt8(ascii: "H") && mayBegin && ResponseFraming.looksLikeStatus(headerLine)
        headerLines += 1
        let expectsStatusLine = awaitsNextHead || head.bytes.isEmpty || head.isComplete && head.isInterim
        if begins {
            if awaitsNextHead || head.bytes.isEmpty { responded = now }
            awaitsNextHead = false
        }
        guard headerLines <= Self.maximumHeaderLines else {
            failure = NetworkError(
                .responseHeadTooLarge, "the response's heads have more than \(Self.maximumHeaderLines) lines",
                phase: .receiving)
            return .stop
        }
        lastActivity = now
        var fault: ResponseFraming.Fault?
        if begins || expectsStatusLine {
            fault = framing.begin(headerLine)
        } else if head.hasFinalHead {
            fault = framing.fault(in: headerLine, isTrailer: true)
        }
        if fault == nil, !begins, head.appendField(headerLine) { return .proceed }
        let (wasComplete, wasFinal) = (head.isComplete, head.hasFinalHead)
        let fits = fault == nil && head.append(line: headerLine, begins: begins)
        if fits, head.isComplete, !wasComplete {
            scan = ResponseHeadScan(head.bytes)
            fault = framing.fault(inFieldsOf: head.bytes, scanned: scan)
        }
        if let fault {
            failure = NetworkError.badFraming(fault)
            return .stop
        }
        if fits { return head.hasFinalHead && !wasFinal ? .headIsComplete : .proceed }
        let problem =
            head.hasTooManyHeads
            ? "the response has more than \(ResponseHeadBuffer.maximumHeads) heads, 1xx ones included"
            : "the response's head is larger than \(ResponseHeadBuffer.maximumBytes) bytes"
        failure = NetworkError(.responseHeadTooLarge, problem, phase: .receiving)
        return .stop
    }

    /// Whether a line that looks like a status line is one: the first line, one after an interim response, and one
    /// after the request has gone out again. Before a tunnel is open, which libcurl does not report, any line after a
    /// complete head. Otherwise it is a field with a strange name, or a trailer.
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

/// The bytes of a response's head, collected line by line as libcurl reports them, and parsed later on another thread.
///
/// libcurl reports every block: 1xx responses, a proxy's response, rounds of authentication. Only the last one counts,
/// so each `HTTP/` line starts over. Lines after the final head are trailers.
struct ResponseHeadBuffer: Sendable {
    /// The largest accepted head in bytes, all lines of one block together.
    static let maximumBytes = 256 * 1024
    /// The maximum number of heads in one exchange: 1xx responses, rounds of authentication, and the final one. This
    /// gives a server that sends one 102 per second while it works several minutes.
    static let maximumHeads = 256

    private var heads = 0
    /// Whether there were more heads than accepted.
    var hasTooManyHeads: Bool { heads > Self.maximumHeads }
    private(set) var bytes: [UInt8] = []
    private(set) var isComplete = false
    private(set) var isInterim = false
    /// Whether the block's status is 417: the server does not accept `Expect`.
    private(set) var refusesExpectation = false
    /// The trailer lines after the final head.
    private(set) var trailerBytes: [UInt8] = []

    /// Whether the last head is an HTTP/1 head, by its status line.
    var isHTTP1: Bool { ByteSearch.start(of: bytes, is: Self.http1) }
    private static let http1 = Array("HTTP/1.".utf8)

    /// Whether a final (not 1xx) head has begun.
    var hasBegunFinal: Bool { !bytes.isEmpty && !isInterim }

    /// Whether a final (not 1xx) head is complete.
    var hasFinalHead: Bool { isComplete && !isInterim }

    /// Appends a line within a head, as most lines are.
    /// - Returns: `false` for any other line, which ``append(line:begins:)`` must check.
    mutating func appendField(_ line: some RandomAccessCollection<UInt8>) -> Bool {
        guard !isComplete, !bytes.isEmpty, let first = line.first, first != UInt8(ascii: "\r"),
            first != UInt8(ascii: "\n"), bytes.count + line.count <= Self.maximumBytes
        else { return false }
        bytes.append(line: line)
        return true
    }

    /// Appends one line, including its line ending.
    /// - Parameter begins: Whether it is a status line. Other lines after a final head are trailers.
    /// - Returns: Whether the line fits.
    mutating func append(line: some RandomAccessCollection<UInt8>, begins: Bool) -> Bool {
        if begins {
            bytes.removeAll(keepingCapacity: true)
            bytes.reserveCapacity(512)
            isComplete = false
            heads += 1
            if hasTooManyHeads { return false }
            readStatus(line)
        } else if hasFinalHead {
            guard trailerBytes.count + line.count <= Self.maximumBytes else { return false }
            trailerBytes.append(line: line)
            return true
        }
        guard bytes.count + line.count <= Self.maximumBytes else { return false }
        bytes.append(line: line)
        if let first = line.first, first == UInt8(ascii: "\r") || first == UInt8(ascii: "\n") {
            if line.allSatisfy({ $0 == UInt8(ascii: "\r") || $0 == UInt8(ascii: "\n") }) { isComplete = true }
        } else if line.isEmpty {
            isComplete = true
        }
        return true
    }

    private static let (switching, expectationFailed) = (Array("101".utf8), Array("417".utf8))

    private mutating func readStatus(_ line: some RandomAccessCollection<UInt8>) {
        isInterim = false
        refusesExpectation = false
        guard let space = line.firstIndex(of: UInt8(ascii: " ")) else { return }
        let code = line[space...].dropFirst().prefix(3)
        // 1xx except 101, after which the protocol changes for good.
        isInterim = code.first == UInt8(ascii: "1") && !code.elementsEqual(Self.switching)
        refusesExpectation = code.elementsEqual(Self.expectationFailed)
    }
}
