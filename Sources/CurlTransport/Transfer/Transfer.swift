import HTTPTypes
import NetworkCore
import Synchronization

/// One exchange from submission to its end.
///
/// @unchecked: what is above 'loop side' never changes, or is an atomic; everything below is touched by the loop's
/// thread alone once the transfer was posted, and by its maker before.
final class Transfer: @unchecked Sendable {
    let request: TransportRequest
    let origin: Origin
    /// When it was made: its timeouts count from there.
    let sent: MonotonicTime
    let hasRequestBody: Bool
    private let body: OutgoingBody
    /// What is set besides the request's own options.
    private let more: [any EasyOption]
    /// The way to the one who waits.
    let channel = ExchangeChannel()
    /// Set by the first canceller, so that a cancel that comes before the start is remembered.
    let isCancelled = Atomic(false)

    // MARK: Loop side

    /// The loop's index for it; -1 outside.
    var slot = -1
    /// While it runs, and shortly before; ``prepare()`` makes it, and ``letGo()`` ends it.
    private(set) var easy: EasyHandle?
    /// Whether the one who sent it has prepared it already.
    private(set) var isPreparedAhead = false
    let ownState: Unshared<TransferState>
    var clocks: TransferClocks
    /// The last address that the address policy did not allow.
    var refusedAddress: AddressPolicy.Address?
    /// How TLS is spoken, once the response has begun.
    var tlsSession: TLSSession?
    /// How often the request went out (CURLOPT_PREREQFUNCTION, 7.80).
    var sending: SendingRecord
    /// Whether the kept connection that libcurl had chosen can't be used, and the transfer begins once more with a new
    /// one.
    var needsFreshConnection = false
    /// How often it has begun once more.
    private var begunAgain = 0
    /// The sockets that it has opened, one of which may become its connection.
    var openedSockets: [Int32] = []
    /// The one of them that became its connection.
    var connection: Int32?
    /// Why no socket could be opened: errno.
    var socketFailure: Int32?
    /// The socket that libcurl waits on, of a transfer with a body.
    private(set) var sendingSocket: Int32?
    /// Whether libcurl has asked for the body since the request was last to go out.
    var isBodyWanted = false
    /// Whether its caller has been given the response's head.
    var hasHandedOutHead = false
    /// How often the request went out by handles that it no longer has.
    private var roundsBefore = 0
    /// Whether it goes out without its `Expect`, which its server has refused.
    private(set) var dropsExpectation = false
    /// Whether libcurl paused it with bytes that are to be sent.
    var keepsBytes = false
    /// What had gone out at the last pause of a body of unknown length.
    private var sentAtPause: (uploaded: Int, queued: Int)?
    /// Whether it ends with its connection, before any request.
    var isPrewarming = false
    /// Whether something is to be delivered at the end of the round.
    var isTouched = false
    /// Whether it was paused for the others' sake.
    var isYielding = false
    /// Whether its turn has come, and whether libcurl has it.
    var isAdmitted = false
    var isInMulti = false
    /// Whether its name may have to be looked up, and counts as a look-up for ``Admission``.
    var isLookingUp = false
    /// Whether its caller has had the answer, and it stays for its look-up; ``TransferTable`` counts those.
    var isGivenUp = false
    /// What is known of its look-ups.
    var lookUp = LookUp()
    /// What its proxy has answered before the tunnel stands.
    var tunnelAnswer = TunnelAnswer()
    /// The loop, while it has the transfer.
    var delegate: (any TransferDelegate)?
    /// Where the time of callbacks comes from: the loop's, read once per round.
    let clock: LoopClock

    /// What happens to a body that is not read.
    private(set) var whenFull: BodyFlow.WhenFull
    /// Who is told of the body's bytes.
    let progress: TransferProgress.Handler?

    /// - Parameter more: What is set besides the request's own options.
    /// - Throws: ``NetworkError`` when there is no memory to pack the request's body.
    init(
        _ request: TransportRequest, origin: Origin, clock: LoopClock, alsoWith more: [any EasyOption] = []
    ) throws {
        sent = .now
        self.clock = clock
        self.origin = origin
        self.more = more
        let isPausable = Libcurl.found.isPausable(request.options.httpVersion)
        progress = request.options.progress
        whenFull = isPausable ? .pause() : .fail(limit: request.options.maximumBodyBytes)
        ownState = Unshared(
            TransferState(
                now: sent, answersChallenges: request.options.answersChallenges,
                speaksHTTP1: Libcurl.found.speaksHTTP1(request.options.httpVersion, isSecure: origin.isSecure)))
        clocks = TransferClocks(sent: sent, limits: TransferLimits(request.options))
        hasRequestBody = request.body != nil
        sending = SendingRecord(mayRepeat: request.mayRepeat)
        body = OutgoingBody(try request.wireBody())
        self.request = request
    }

    // One that its sender gave up before the loop had it.
    deinit { closeUpload() }

    // MARK: The handle

    /// Makes the handle and sets it up, unless that is done.
    /// - Throws: ``NetworkError`` for what this libcurl refuses.
    func prepare() throws {
        guard easy == nil else { return }
        let easy = try EasyHandle(for: self)
        try outgoing.configure(easy, sending: body, over: Libcurl.found)
        for option in more { try option.apply(to: easy) }
        if easy.needsOwnConnection, !Libcurl.found.has(.requestCheck), request.options.answersChallenges {
            throw NetworkError.noOwnConnection
        }
        if needsFreshConnection { try easy.set(.freshConnect, 1) }
        try attachCallbacks(to: easy)
        self.easy = easy
    }

    /// The request as it goes out now.
    private var outgoing: TransportRequest {
        guard dropsExpectation else { return request }
        var outgoing = request
        outgoing.headerFields[.expect] = nil
        return outgoing
    }

    /// Has the request go out once more, without its `Expect` and over a new connection, since the server refused that.
    /// - Returns: Whether it can: not where a part of the body has gone out that can't be made again.
    func dropExpectation() -> Bool {
        if case .streamed(let upload) = body, easy?.reader?.position ?? 0 > 0, !upload.restart() { return false }
        dropsExpectation = true
        needsFreshConnection = true
        begunAgain = 0
        return true
    }

    /// Each time one kept connection less is left, but a server may fill others.
    private static let maximumBegins = 64

    /// A socket was opened: where there was a connection already, it is for another, whose time begins now.
    /// - Returns: Whether there was one.
    func connectsAnew() -> Bool {
        guard let easy, easy.connectsAnew() else { return false }
        clocks.connectAnew(at: clock.now)
        return true
    }

    /// Makes another handle, for a new connection, in place of one that has left its multi handle and whose request was
    /// not to go out over the connection that libcurl chose.
    /// - Throws: ``NetworkError``, where that has come too often, and for a body that can't be made again.
    func prepareFresh() throws {
        begunAgain += 1
        guard begunAgain <= Self.maximumBegins else { throw NetworkError.noCleanConnection }
        if case .streamed(let upload) = body, easy?.reader?.position ?? 0 > 0, !upload.restart() {
            throw NetworkError.bodyIsGone
        }
        state.awaitNextHead()
        clocks.connectAnew(at: clock.now)
        letGo()
        // Another socket may get the number of the one that is closed.
        (connection, openedSockets) = (nil, [])
        roundsBefore = sending.attempts - sending.repeats
        try prepare()
        needsFreshConnection = false
    }

    /// The same on the thread of the one who sends it, before the loop has it.
    func prepareAhead() throws {
        try prepare()
        isPreparedAhead = true
    }

    /// Ends the handle, which has left its multi handle or never was in one.
    func letGo() {
        isPreparedAhead = false
        easy?.close()
        easy = nil
    }

    /// Whether the request's body is made while it is sent.
    var streamsBody: Bool { if case .streamed = body { true } else { false } }

    /// The transfer is over: a streamed body's producer ends.
    func closeUpload() { if case .streamed(let upload) = body { upload.close() } }

    /// Whether its body may be paused.
    var isPausable: Bool { if case .pause = whenFull { true } else { false } }

    /// Lets more of the body wait for its reader.
    func widenFlow() { if case .pause = whenFull { whenFull = .pause(above: BodyFlow.roomyMark) } }

    /// libcurl waits on a socket for it, or no longer.
    func waits(on descriptor: Int32, _ waits: Bool) {
        guard hasRequestBody else { return }
        if waits { sendingSocket = descriptor } else if sendingSocket == descriptor { sendingSocket = nil }
    }

    /// Whether the request waits for the server to want its body (RFC 9110 §10.1.1).
    var expectsContinue: Bool { request.body != nil && !dropsExpectation && request.headerFields.contains(.expect) }

    /// How often the request went out by its handle, repeats left aside: in rounds of authentication.
    private var rounds: Int { sending.attempts - sending.repeats - roundsBefore }

    /// Whether nothing of the body has gone out with the request that went out last.
    private var holdsBodyBack: Bool { !isBodyWanted && easy?.uploadedBytes ?? 0 == 0 }

    /// Whether the server may still wait for the body.
    var owesBody: Bool { holdsBodyBack && request.body?.length != 0 }

    /// Whether libcurl may have sent the request without its body, to ask for a challenge, and will send it again.
    var mayHaveAskedFirst: Bool {
        guard request.asksForChallenge, holdsBodyBack else { return false }
        return !Libcurl.found.has(.requestCheck) || request.options.askingRounds.contains(rounds)
    }

    /// Whether its server's name may be looked up after a socket was opened, to the proxy.
    var looksUpBehindProxy: Bool { ProxyOption.takesAddresses(request.options) }

    /// Whether libcurl would hold back the body of the next request on its connection too: it may have asked for a
    /// challenge without the body, and got another response.
    var spoilsConnection: Bool {
        Libcurl.found.suffers(from: .heldBackBodiesStay) && request.asksForChallenge
            && rounds == 1
    }

    /// Whether it goes out over HTTP/1 for certain.
    var speaksHTTP1: Bool { Libcurl.found.speaksHTTP1(request.options.httpVersion, isSecure: origin.isSecure) }

    /// How many bytes wait in its socket for the server. Over HTTP/2 they are everybody's, and not counted.
    var queuedBytes: Int {
        guard let sendingSocket, speaksHTTP1 else { return 0 }
        return SendQueue.bytes(of: sendingSocket)
    }

    /// Whether libcurl may hold bytes of a body whose stream now pauses. Most versions keep what a full socket did not
    /// take (a thirty-second of the buffer from 7.84, all of it in 8.7 to 8.9 and from 8.18) until they are asked to go
    /// on.
    /// - Parameters:
    ///   - given: How many bytes libcurl was given.
    ///   - uploaded: How many it has sent, in chunks with their framing.
    func mayKeepBytes(given: Int, uploaded: Int) -> Bool {
        guard request.body?.length == nil, speaksHTTP1 else { return given > uploaded }
        // Below 8.7 it asks for a chunk when the last one is out.
        guard Libcurl.found.has(.sharedReceiveBuffer) else { return false }
        let now = (uploaded: uploaded, queued: queuedBytes)
        defer { sentAtPause = now }
        return now.queued > 0 || sentAtPause.map { $0 != now } ?? true
    }

    /// Where a connection that it goes out over was made, given what libcurl says of our end.
    func place(ofConnectionFrom localPort: Int) -> KeptSockets.Place {
        guard request.options.hasRareOptions, let socket = request.options.connection.unixSocket else {
            return .port(localPort)
        }
        return .unix(socket)
    }

    /// The time since `send`.
    var elapsed: Duration { MonotonicTime.now - sent }
}

extension NetworkError {
    fileprivate static var noOwnConnection: NetworkError {
        NetworkError(
            .unsupported,
            "the request must have a connection of its own, and libcurl below 7.80 takes any kept one to answer a "
                + "challenge: no digest, NTLM, Negotiate or anySafe here, for the server or a proxy, unless the method "
                + "is idempotent or connection.repeatsAnyMethod is on", phase: .preparing)
    }

    fileprivate static var noCleanConnection: NetworkError {
        NetworkError(
            .connectionLost,
            "each kept connection that libcurl chose had bytes that no request asked for, or belongs to others",
            phase: .connecting)
    }

    fileprivate static var bodyIsGone: NetworkError {
        NetworkError(
            .connectionLost, "the request must go out over another connection, and its body can't be made again",
            phase: .connecting)
    }
}

/// What a transfer tells its loop, on the loop's thread and inside libcurl.
protocol TransferDelegate: AnyObject {
    /// Something is to be delivered at the end of the round.
    func transferWasTouched(_ transfer: Transfer)
    /// The transfer's stream pauses, and libcurl would keep what it has of it.
    func transferKeepsBytes(_ transfer: Transfer)
    /// The transfer's request goes out, or its response comes: it has a connection, maybe one that was kept.
    func transferHasConnection(_ transfer: Transfer)
    /// The transfer's request goes out over the connection from a port.
    /// - Returns: Whether the connection is clean.
    func transfer(_ transfer: Transfer, goesOutFrom localPort: Int) -> Bool
    /// The transfer's request goes out once more: its clocks begin anew.
    func transferGoesOutAgain(_ transfer: Transfer)
    /// The transfer was paused for the others' sake, and is to go on after them.
    func transferYields(_ transfer: Transfer)
    /// The transfer has opened a socket, to its host or to the proxy.
    func transfer(_ transfer: Transfer, opened descriptor: Int32)
}

/// The loop's time, read once per round, and its callbacks' share of it, which begins anew with each call of libcurl.
///
/// @unchecked: written and read by the loop's thread alone.
final class LoopClock: @unchecked Sendable {
    var now = MonotonicTime.now
    let ownShare = Unshared(CallShare())
    /// The number of the call of libcurl that is under way.
    private(set) var call = 0

    /// libcurl is about to be called.
    func beginCall() {
        callShare = CallShare()
        call &+= 1
    }
}
