import HTTPTypes
import NetworkCore
import Synchronization

/// One exchange from submission to its end.
///
/// @unchecked: everything above 'Loop side' never changes or is an atomic; after submission only the loop's thread
/// touches what is below, and before that only the thread that creates the transfer.
final class Transfer: @unchecked Sendable {
    let request: TransportRequest
    /// The plan of the request as its sender made it.
    private let ownPlan: Plan
    var origin: Origin { ownPlan.origin }
    /// When the transfer was created; its timeouts start here.
    let sent: MonotonicTime
    let hasRequestBody: Bool
    private let body: OutgoingBody
    /// The channel to the waiting caller.
    let channel = ExchangeChannel()
    /// Set by the first cancellation, so that one that comes before the start is not lost.
    let isCancelled = Atomic(false)

    // MARK: Loop side

    /// The transfer's index in the loop's table; -1 outside it.
    var slot = -1
    var life = TransferLife.outside
    /// The handle, while the transfer runs and shortly before, from ``prepare(at:)`` to ``releaseHandle()``.
    private(set) var easy: EasyHandle?
    /// The place of the connections that the handle uses.
    private var destination: Destination?
    /// The pool whose libcurl has the handle.
    private(set) var pool: Pool?
    /// Whether the next handle must open a new connection.
    private var needsNewConnection = false
    /// The plan of a request that the server wants over HTTP/1.1, in place of ``ownPlan``.
    private var otherPlan: Plan?
    /// The plan of the request as it goes out now.
    var plan: Plan { otherPlan ?? ownPlan }
    private let ownState: Unshared<TransferState>
    var state: TransferState {
        @inline(__always) _read { yield ownState.value }
        @inline(__always) _modify { yield &ownState.value }
    }
    var clocks: TransferClocks
    /// The last address that the address policy refused.
    var refusedAddress: AddressPolicy.Address?
    /// The connection's TLS parameters, once the response has begun.
    var tlsSession: TLSSession?
    /// How often the request went out (CURLOPT_PREREQFUNCTION, 7.80).
    var sending: SendingRecord
    /// How often the transfer has begun again.
    private var begunAgain = 0
    /// The number of bytes of the request that have gone out over the handles before this one.
    var sentEarlier = 0
    /// The sockets that the transfer has opened, one of which may become its connection.
    var openedSockets: [Int32] = []
    /// The opened socket that became its connection.
    var connection: Int32?
    /// Whether the ends of its TLS connection have agreed upon HTTP/1, or upon nothing, which is the same.
    private(set) var hasHTTP1Connection = false
    /// Why no socket could be opened: the errno.
    var socketFailure: Int32?
    /// The socket that libcurl waits on, for a transfer with a body.
    var sendingSocket: Int32?
    /// The number of bytes of a discarded body that have come since.
    var drained = 0
    /// The largest part of a discarded body that is read to keep its connection, in bytes.
    static let maximumDrained = 65_536
    /// Whether libcurl has requested the body since the request last went out.
    var isBodyWanted = false
    /// Whether the caller has received the response's head.
    var hasHandedOutHead = false
    /// Whether the request goes out without its `Expect`, which the server has refused.
    private(set) var dropsExpectation = false
    /// Whether the server has refused the request over HTTP/2, so that all further connections speak HTTP/1.1.
    private var staysWithHTTP1: Bool { otherPlan != nil }
    /// Whether libcurl paused the transfer while it holds bytes to send.
    var keepsBytes = false
    /// What had gone out at the last pause of a body of unknown length.
    private var sentAtPause: (uploaded: Int, queued: Int)?
    /// Whether the transfer ends once its connection is open, before any request.
    var isPrewarming = false
    /// Whether there is something to deliver at the end of the round.
    var isTouched = false
    /// Whether the transfer was paused to let others run.
    var isYielding = false
    /// What is known of the transfer's lookups.
    var lookUp = LookUp()
    /// What the proxy has sent before the tunnel is open.
    var tunnelResponse = TunnelResponse()
    /// The loop, while it has the transfer.
    var delegate: (any TransferDelegate)?
    /// The time source of the callbacks: the loop's clock, read once per round.
    let clock: LoopClock

    /// What happens to a body that is not read.
    private(set) var whenFull: BodyFlow.WhenFull
    /// The handler that receives the progress of the bodies.
    let progress: TransferProgress.Handler?

    /// - Throws: ``NetworkError`` when there is no memory to compress the request's body.
    init(_ request: TransportRequest, plan: Plan) throws {
        sent = .now
        clock = plan.clock
        ownPlan = plan
        progress = request.options.progress
        whenFull = plan.isPausable ? .pause() : .fail(limit: request.options.maximumBodyBytes)
        ownState = Unshared(TransferState(now: sent, speaksHTTP1: plan.asksForHTTP1))
        let hasLimits = plan.hasLimits(of: request.options)
        clocks = TransferClocks(sent: sent, limits: hasLimits ? plan.limits : TransferLimits(request.options))
        hasRequestBody = request.body != nil
        sending = SendingRecord(mayRepeat: request.mayRepeat, isCounted: !plan.maySendOverTLS)
        body = OutgoingBody(try request.wireBody())
        self.request = request
    }

    // For a transfer that its sender gave up before the loop had it.
    deinit { closeUpload() }

    // MARK: The handle

    /// Takes a handle that another request has left at the place of the request's connections, or makes one.
    /// - Throws: ``NetworkError`` for options that this libcurl refuses.
    func prepare(at destination: Destination) throws -> EasyHandle {
        guard let pool = destination.pool else { throw NetworkError.noPool }
        self.destination = destination
        if leavesHandle, let (easy, last) = destination.takeHandle() {
            self.easy = easy
            try easy.carry(request, after: last, for: self, plan: plan)
            return easy
        }
        let easy = try EasyHandle(events: self)
        self.easy = easy
        try pool.multi.attach(to: easy)
        try outgoing.configure(
            easy, sending: body, key: plan.key, connectTimeout: plan.connectTimeout, over: Libcurl.found)
        if plan.trustsAnyServer { try AnyServerOption().apply(to: easy) }
        if isPrewarming { try PrewarmOption().apply(to: easy) }
        if needsNewConnection { try easy.set(.freshConnect, 1) }
        try easy.attachCallbacks(reportsProgress: plan.mayTunnel)
        return easy
    }

    /// Hands the handle to libcurl.
    func enterPool() throws {
        guard let easy, let destination, let pool = destination.pool else { throw NetworkError.noPool }
        easy.useNames(for: pool.nameCacheSeconds())
        try pool.multi.add(easy, slot: slot)
        self.pool = pool
        pool.transferBegan()
        destination.transferBegan()
    }

    /// Takes the handle from libcurl, if it has it.
    /// - Returns: The pool that had it.
    @discardableResult
    func leavePool(at now: MonotonicTime) -> Pool? {
        guard let pool else { return nil }
        self.pool = nil
        if let easy { pool.multi.remove(easy) }
        pool.transferEnded()
        destination?.transferEnded(at: now)
        return pool
    }

    /// Whether the handle may be another's before, and the next request's afterwards: it carries a GET without a body
    /// whose every option the next one sets again, or has with the same value.
    private var leavesHandle: Bool {
        plan.keepsHandles && request.method == .get && !hasRequestBody && !isPrewarming && !needsNewConnection
    }

    /// Whether the exchange has left nothing in the handle but its response: it went out once, and ended well.
    private var hasEndedPlainly: Bool { endedWell && sending.attempts == 1 && begunAgain == 0 && state.failure == nil }

    /// Whether libcurl has reported success.
    var endedWell = false

    /// The request as it goes out now.
    private var outgoing: TransportRequest {
        guard dropsExpectation || staysWithHTTP1 else { return request }
        var outgoing = request
        if dropsExpectation { outgoing.headerFields[.expect] = nil }
        if staysWithHTTP1 { outgoing.options.httpVersion = .http1_1 }
        return outgoing
    }

    /// Lets the request go out again, without its `Expect` and over a new connection, since the server refused the
    /// field.
    /// - Returns: Whether that is possible: not if part of a body has gone out that can't be produced again, or with a
    ///   method that is not idempotent.
    func dropExpectation() -> Bool {
        let isPartOut = (easy?.uploadedBytes ?? 0) > 0 || (easy?.reader?.position ?? 0) > 0
        guard !isPartOut || request.mayRepeat else { return false }
        if case .streamed(let upload) = body, easy?.reader?.position ?? 0 > 0, !upload.restart() { return false }
        dropsExpectation = true
        life.beginAgain(.overNewConnection)
        begunAgain = 0
        return true
    }

    /// Each new start leaves one kept connection fewer, but a server may spoil others meanwhile.
    private static let maximumBegins = 64
    /// The number of new starts of a request over HTTP/2 for which libcurl chooses the connection.
    private static let sharedBegins = 8

    /// Records that a socket was opened: if there was a connection already, the socket is for another one, whose time
    /// starts now.
    /// - Returns: Whether there was a connection.
    func connectsAnew() -> Bool {
        guard let easy, easy.connectsAnew() else { return false }
        clocks.connectAnew(at: clock.now)
        return true
    }

    /// Whether the request must go out over a new connection of HTTP/1: where one kept connection broke, the others may
    /// be as broken, and libcurl would give up after five of them.
    var avoidsKeptConnections: Bool { begunAgain == 0 && sending.isRepeat }

    /// Prepares the transfer for another handle, with another connection, in place of one that has left its pool and
    /// whose request must not go out over the connection that libcurl chose.
    /// - Throws: ``NetworkError`` after too many new starts, and for a body that can't be produced again.
    func beginAgain() throws {
        begunAgain += 1
        guard begunAgain <= Self.maximumBegins else { throw NetworkError.noCleanConnection }
        try leaveHandle()
        clocks.beginAgain(at: clock.now)
        // Of HTTP/2, all that lost a connection share the next one, unless libcurl chooses the same again and again.
        needsNewConnection = speaksHTTP1 || begunAgain > Self.sharedBegins
    }

    /// Prepares the transfer for its return to the queue: its name needs a lookup after all.
    /// - Throws: ``NetworkError`` for a body that can't be produced again.
    func withdraw() throws {
        try leaveHandle()
        clocks.returnToQueue()
        lookUp = LookUp()
    }

    /// Closes a handle that another one follows, for the same request. What has gone out over it still counts.
    private func leaveHandle() throws {
        if case .streamed(let upload) = body, easy?.reader?.position ?? 0 > 0, !upload.restart() {
            throw NetworkError.bodyIsGone
        }
        sentEarlier += easy?.requestBytes ?? 0
        state.awaitNextHead()
        releaseHandle()
        // A new socket may get the number of a closed one.
        (connection, openedSockets) = (nil, [])
        (keepsBytes, sentAtPause) = (false, nil)
    }

    /// The number of bytes of the request that have gone out, over all its handles.
    var sentBytes: Int { sentEarlier + (easy?.requestBytes ?? 0) }

    /// Closes the handle, which has left its pool, or leaves it to the next request.
    func releaseHandle() {
        guard let easy else { return }
        self.easy = nil
        let isKept =
            leavesHandle && hasEndedPlainly && !easy.isMarked
            && destination?.keep(easy, CarriedRequest(request, plan: plan)) == true
        if !isKept { easy.close() }
    }

    /// The channel of a streamed body.
    var upload: UploadChannel? { if case .streamed(let upload) = body { upload } else { nil } }

    /// Ends the producer of a streamed body, since the transfer is over.
    func closeUpload() { if case .streamed(let upload) = body { upload.close() } }

    /// Whether the response's body may be paused.
    var isPausable: Bool { if case .pause = whenFull { true } else { false } }

    /// Lets more of the body wait for its reader.
    func widenFlow() { if case .pause = whenFull { whenFull = .pause(above: BodyFlow.roomyMark) } }

    /// Whether the request waits for the server's 100 before its body goes out (RFC 9110 §10.1.1).
    var expectsContinue: Bool { request.body != nil && !dropsExpectation && request.headerFields.contains(.expect) }

    /// Whether no part of the body has gone out with the last attempt.
    private var holdsBodyBack: Bool { !isBodyWanted && easy?.uploadedBytes ?? 0 == 0 }

    /// Whether the server may still wait for the body.
    var owesBody: Bool { holdsBodyBack && request.body?.length != 0 }

    /// Whether the request goes out over HTTP/1 whatever its connection is.
    var asksForHTTP1: Bool { plan.asksForHTTP1 }

    /// Whether the request certainly goes out over HTTP/1: it asks for that, or its connection has no other version.
    var speaksHTTP1: Bool { hasHTTP1Connection || asksForHTTP1 }

    /// Asks the connection over which the request is about to go out for its version of HTTP.
    func learnVersion() {
        guard !asksForHTTP1, origin.isSecure, request.options.httpVersion != .http2PriorKnowledge else { return }
        let negotiated = easy?.negotiatedProtocol
        hasHTTP1Connection = negotiated.map { $0.isEmpty || $0.starts(with: "http/1".utf8) } ?? false
    }

    /// Lets the request, which is about to go out, go out over a new connection instead. If it has gone out before and
    /// this connection speaks HTTP/1, the server may have refused HTTP/2 for it (HTTP_1_1_REQUIRED, RFC 9113 §7), which
    /// libcurl remembers for one handle.
    func avoidConnection() {
        learnVersion()
        if sending.attempts > 0, hasHTTP1Connection, otherPlan == nil {
            var request = request
            request.options.httpVersion = .http1_1
            otherPlan = Plan(request, origin: origin, clock: clock, trustsAnyServer: plan.trustsAnyServer)
        }
        life.beginAgain(.overNewConnection)
    }

    /// The number of bytes that wait in the transfer's socket for the server. Over HTTP/2 all streams share them, so
    /// they are not counted.
    var queuedBytes: Int {
        guard let sendingSocket, speaksHTTP1 else { return 0 }
        return SendQueue.bytes(of: sendingSocket)
    }

    /// Returns whether libcurl may hold bytes of a body whose stream now pauses. Most versions keep what a full socket
    /// did not take (a thirty-second of the buffer from 7.84, all of it in 8.7 to 8.9 and from 8.18) until the transfer
    /// is resumed.
    /// - Parameters:
    ///   - given: The number of bytes that libcurl was given.
    ///   - uploaded: The number of bytes that it has sent, with chunk framing where there is any.
    func mayKeepBytes(given: Int, uploaded: Int) -> Bool {
        guard request.body?.length == nil, speaksHTTP1 else { return given > uploaded }
        // Below 8.7 libcurl requests a chunk only when the last one is out.
        guard Libcurl.found.sharesReceiveBuffer else { return false }
        let now = (uploaded: uploaded, queued: queuedBytes)
        defer { sentAtPause = now }
        return now.queued > 0 || sentAtPause.map { $0 != now } ?? true
    }

    /// The time since `send`.
    var elapsed: Duration { MonotonicTime.now - sent }
}

extension NetworkError {
    fileprivate static var noCleanConnection: NetworkError {
        NetworkError(
            .connectionLost,
            "every kept connection that libcurl chose had surplus bytes",
            phase: .connecting)
    }

    /// A programming error: a pool goes only when no transfer needs it.
    static var noPool: NetworkError {
        NetworkError(.unclassified, "the connections of the request are gone", phase: .preparing)
    }

    fileprivate static var bodyIsGone: NetworkError {
        NetworkError(
            .connectionLost, "the request must go out over another connection, and its body can't be produced again",
            phase: .connecting)
    }
}

/// The events that a transfer reports to its loop, on the loop's thread and inside libcurl.
protocol TransferDelegate: AnyObject {
    /// There is something to deliver at the end of the round.
    func transferWasTouched(_ transfer: Transfer)
    /// The transfer's stream pauses, and libcurl would hold bytes of it.
    func transferKeepsBytes(_ transfer: Transfer)
    /// libcurl is about to look up the transfer's name, or its proxy's.
    /// - Returns: Whether it may now.
    func transferMayLookUp(_ transfer: Transfer) -> Bool
    /// The transfer's request goes out or its response arrives: it has a connection, possibly a kept one.
    func transferHasConnection(_ transfer: Transfer)
    /// The transfer's request goes out over a connection.
    /// - Returns: Whether the connection is clean.
    func transfer(_ transfer: Transfer, goesOutOver ends: ConnectionEnds) -> Bool
    /// The transfer's request goes out again: its clocks start over.
    func transferGoesOutAgain(_ transfer: Transfer)
    /// The transfer was paused to let others run, and resumes after them.
    func transferYields(_ transfer: Transfer)
    /// The transfer has opened a socket, to its host or to the proxy.
    func transfer(_ transfer: Transfer, opened descriptor: Int32)
    /// There is no socket for an address that libcurl wants to connect to.
    func transferFoundNoSocket(_ transfer: Transfer)
    /// libcurl waits for a socket on the transfer's behalf, or no longer does if `interest` is empty.
    func transfer(_ transfer: Transfer, waitsOn descriptor: Int32, for interest: Epoll.Interest)
}
