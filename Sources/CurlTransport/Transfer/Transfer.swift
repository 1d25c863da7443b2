import HTTPTypes
import NetworkCore
import Synchronization

/// One exchange from submission to its end.
///
/// @unchecked: after submission only the loop's thread touches ``state``, and before that only the thread that creates
/// the transfer. Nothing else changes, or it is an atomic.
final class Transfer: Unshared<TransferState>, @unchecked Sendable {
    let request: TransportRequest
    /// The plan of the request as its sender made it.
    private let ownPlan: Plan
    private let body: OutgoingBody
    /// When the transfer was created; its timeouts start here.
    let sent: MonotonicTime
    /// When the total timeout is over.
    let deadline: MonotonicTime?
    /// Receives the progress of the response's body.
    let progress: (@Sendable (TransferProgress) -> Void)?
    /// Whether the transfer ends once its connection is open, before any request.
    let isPrewarming: Bool
    /// The channel to the waiting caller.
    let channel = ExchangeChannel()
    /// Set by the first cancellation, so that one that comes before the start is not lost.
    let isCancelled = Atomic(false)

    /// - Parameter hasPlansLimits: Whether the timeouts and limits are those of the plan.
    /// - Throws: ``NetworkError`` when there is no memory to compress the request's body.
    init(_ request: TransportRequest, plan: Plan, hasPlansLimits: Bool = false, isPrewarming: Bool = false) throws {
        let sent = MonotonicTime.now
        let limits = hasPlansLimits ? plan.limits : TransferLimits(request.options)
        body = OutgoingBody(try request.wireBody())
        (self.request, ownPlan, self.sent, self.isPrewarming) = (request, plan, sent, isPrewarming)
        deadline = limits.total.map { sent + $0 }
        progress = request.options.progress
        super.init(
            TransferState(
                clocks: TransferClocks(sent: sent, limits: limits),
                response: ResponseState(now: sent, speaksHTTP1: plan.asksForHTTP1),
                sending: SendingRecord(mayRepeat: request.mayRepeat, isCounted: !plan.maySendOverTLS),
                whenFull: plan.isPausable ? .pause() : .fail(limit: request.options.maximumBodyBytes)))
    }

    // For a transfer that its sender gave up before the loop had it.
    deinit { closeUpload() }

    /// The plan of the request as it goes out now.
    var plan: Plan { state.http1Plan ?? ownPlan }

    var origin: Origin { @inline(__always) _read { yield ownPlan.origin } }

    /// What is known about HTTP/3 at the place of the request's connections, if anything depends on it.
    var http3: HTTP3Place? { ownPlan.http3 }
    /// Whether the request asks for HTTP/3.
    var asksForHTTP3: Bool { ownPlan.key.version == .http3 || ownPlan.key.version == .http3Only }

    /// The loop's time.
    var clock: LoopClock { ownPlan.clock }

    var hasRequestBody: Bool { request.body != nil }

    /// The time since `send`.
    var elapsed: Duration { MonotonicTime.now - sent }

    // MARK: The handle

    /// Takes a handle that another request has left at the place of the request's connections, or makes one.
    /// - Throws: ``NetworkError`` for options that this libcurl refuses.
    func prepare(at destination: Destination) throws -> EasyHandle {
        guard let pool = destination.pool else { throw NetworkError.noPool }
        state.run.destination = destination
        let plan = plan
        if leavesHandle(of: plan), let (easy, last) = destination.takeHandle(for: request, sending: body) {
            state.run.easy = easy
            try easy.carry(request, sending: body, after: last, for: self, plan: plan)
            return easy
        }
        let easy = try EasyHandle(events: self)
        state.run.easy = easy
        try pool.multi.attach(to: easy)
        try outgoing.configure(
            easy, sending: body, key: plan.key, connectTimeout: plan.connectTimeout, over: Libcurl.found)
        if plan.trustsAnyServer { try AnyServerOption().apply(to: easy) }
        if isPrewarming { try PrewarmOption().apply(to: easy) }
        if state.needsNewConnection { try easy.set(.freshConnect, 1) }
        try easy.attachCallbacks(reportsProgress: plan.mayTunnel)
        return easy
    }

    /// Hands the handle to libcurl.
    func enterPool(of destination: Destination, with easy: EasyHandle) throws {
        guard let pool = destination.pool else { throw NetworkError.noPool }
        easy.useNames(for: pool.nameCacheSeconds())
        try pool.multi.add(easy, slot: state.slot)
        state.run.pool = pool
        pool.transferBegan()
        destination.transferBegan()
    }

    /// Takes the handle from libcurl, if it has it.
    /// - Returns: The pool that had it.
    @discardableResult
    func leavePool(at now: MonotonicTime) -> Pool? {
        guard let pool = state.run.pool.take() else { return nil }
        if let easy = state.run.easy { pool.multi.remove(easy) }
        pool.transferEnded()
        state.run.destination?.transferEnded(at: now)
        return pool
    }

    /// Whether the handle may be another's before, and the next request's afterwards: each of its options the next one
    /// sets again, or has with the same value.
    private func leavesHandle(of plan: Plan) -> Bool {
        plan.keepsHandles && body.kind != .streamed && !isPrewarming && !state.needsNewConnection && !expectsContinue
    }

    /// Closes the handle, which has left its pool, or leaves it to the next request: after an exchange that has left
    /// nothing in it but its response, since it went out once and ended well.
    func releaseHandle() {
        guard let easy = state.run.easy.take() else { return }
        let isKept =
            state.run.hasEndedWell && state.sending.attempts == 1 && state.begunAgain == 0
            && state.response.failure == nil
            && !easy.isMarked && leavesHandle(of: plan)
            && state.run.destination?.keep(easy, CarriedRequest(request, sending: body, plan: plan)) == true
        if !isKept { easy.close() }
    }

    /// The request as it goes out now.
    private var outgoing: TransportRequest {
        guard state.dropsExpectation || state.http1Plan != nil else { return request }
        var outgoing = request
        if state.dropsExpectation {
            outgoing.headerFields[.expect] = nil
            outgoing.options.expectContinue = nil
        }
        if state.http1Plan != nil { outgoing.options.httpVersion = .http1_1 }
        return outgoing
    }

    // MARK: Another run

    /// Each new start leaves one kept connection fewer, but a server may spoil others meanwhile.
    private static let maximumBegins = 64
    /// The number of new starts of a request over HTTP/2 for which libcurl chooses the connection.
    private static let sharedBegins = 8

    /// Prepares the transfer for another run, over another connection, in place of one that has left its pool and whose
    /// request must not go out over the connection that libcurl chose.
    /// - Throws: ``NetworkError`` after too many new starts, and for a body that can't be produced again.
    func beginAgain() throws {
        state.begunAgain += 1
        guard state.begunAgain <= Self.maximumBegins else { throw NetworkError.noCleanConnection }
        // Of HTTP/2, all that lost a connection share the next one, unless libcurl chooses the same again and again.
        state.needsNewConnection = speaksHTTP1 || state.begunAgain > Self.sharedBegins
        try endRun()
        state.clocks.beginAgain(at: clock.now)
    }

    /// Prepares the transfer for its return to the queue: its name needs a lookup after all.
    /// - Throws: ``NetworkError`` for a body that can't be produced again.
    func withdraw() throws {
        try endRun()
        state.clocks.returnToQueue()
    }

    /// Ends a run that another one follows, for the same request. What has gone out in it still counts.
    private func endRun() throws {
        guard restartsBody() else { throw NetworkError.bodyIsGone }
        state.sentEarlier += state.run.easy?.requestBytes ?? 0
        state.response.awaitNextHead()
        releaseHandle()
        state.run = TransferRun()
    }

    /// Lets a streamed body of which libcurl has read a part begin again.
    /// - Returns: Whether that is possible.
    private func restartsBody() -> Bool {
        guard case .streamed(let upload) = body, hasReadBody else { return true }
        return upload.restart()
    }

    /// Lets the request go out again, without its `Expect` and over a new connection, since the server refused the
    /// field.
    /// - Returns: Whether that is possible: not if part of a body has gone out that can't be produced again, or with a
    ///   method that is not idempotent.
    func dropExpectation() -> Bool {
        let isPartOut = (state.run.easy?.uploadedBytes ?? 0) > 0 || hasReadBody
        guard !isPartOut || request.mayRepeat, restartsBody() else { return false }
        state.dropsExpectation = true
        state.life.beginAgain(.overNewConnection)
        state.begunAgain = 0
        return true
    }

    /// Lets the request, which is about to go out, go out over a new connection instead. If it has gone out before and
    /// this connection speaks HTTP/1, the server may have refused HTTP/2 for it (HTTP_1_1_REQUIRED, RFC 9113 §7), which
    /// libcurl remembers for one handle.
    func avoidConnection() {
        learnVersion()
        if state.sending.attempts > 0, state.run.hasHTTP1Connection, state.http1Plan == nil {
            var request = request
            request.options.httpVersion = .http1_1
            state.http1Plan = Plan(request, origin: origin, clock: clock, trustsAnyServer: plan.trustsAnyServer)
        }
        state.life.beginAgain(.overNewConnection)
    }

    /// Records that a socket was opened: if there was a connection already, the socket is for another one, whose time
    /// starts now.
    /// - Returns: Whether there was a connection.
    func connectsAnew() -> Bool {
        guard let easy = state.run.easy, easy.connectsAnew() else { return false }
        state.clocks.connectAnew(at: clock.now)
        return true
    }

    /// Whether the request must go out over a new connection of HTTP/1: where one kept connection broke, the others may
    /// be as broken, and libcurl would give up after five of them.
    var avoidsKeptConnections: Bool { state.begunAgain == 0 && state.sending.isRepeat }

    // MARK: The version of HTTP

    /// Whether the request goes out over HTTP/1 whatever its connection is.
    var asksForHTTP1: Bool { plan.asksForHTTP1 }

    /// Whether the request certainly goes out over HTTP/1: it asks for that, or its connection has no other version.
    var speaksHTTP1: Bool { state.run.hasHTTP1Connection || asksForHTTP1 }

    /// Asks the connection over which the request is about to go out for its version of HTTP.
    func learnVersion() {
        guard !asksForHTTP1, origin.isSecure, request.options.httpVersion != .http2PriorKnowledge else { return }
        let negotiated = state.run.easy?.negotiatedProtocol
        state.run.hasHTTP1Connection = negotiated.map { $0.isEmpty || $0.starts(with: "http/1".utf8) } ?? false
    }

    // MARK: The request's body

    /// The channel of a streamed body.
    var upload: UploadChannel? { if case .streamed(let upload) = body { upload } else { nil } }

    /// Ends the producer of a streamed body, since the transfer is over.
    func closeUpload() { if case .streamed(let upload) = body { upload.close() } }

    /// The number of bytes of the request that have gone out, over all its runs.
    var sentBytes: Int { state.sentEarlier + (state.run.easy?.requestBytes ?? 0) }

    /// Whether libcurl has read some of the body.
    var hasReadBody: Bool { (state.run.easy?.reader?.position ?? 0) > 0 }

    /// Whether the request waits for the server's 100 before its body goes out (RFC 9110 §10.1.1).
    var expectsContinue: Bool { !state.dropsExpectation && request.expectsContinue }

    /// Whether the server may still wait for the body: no part of it has gone out with the last attempt.
    var owesBody: Bool {
        !state.run.isBodyWanted && state.run.easy?.uploadedBytes ?? 0 == 0 && request.body?.length != 0
    }

    /// Whether part of a body that libcurl reads piece by piece has not gone out.
    var isSendingBody: Bool { state.run.easy?.reader != nil && hasUnsentBody }

    /// Whether part of the body has not gone out.
    var hasUnsentBody: Bool {
        guard let easy = state.run.easy else { return false }
        let sent = easy.uploadedBytes
        return easy.reader.map { !$0.isWhole(sent: sent) } ?? (sent == 0 && request.body?.length != 0)
    }

    /// The number of bytes that wait in the transfer's socket for the server. Over HTTP/2 all streams share them, so
    /// they are not counted.
    var queuedBytes: Int {
        guard let socket = state.run.sendingSocket, speaksHTTP1 else { return 0 }
        return SendQueue.bytes(of: socket)
    }

    /// Returns whether libcurl may hold bytes of a body whose stream now pauses. Most versions keep what a full socket
    /// did not take (a thirty-second of the buffer, all of it in 8.7 to 8.9 and from 8.18) until the transfer is
    /// resumed.
    /// - Parameters:
    ///   - given: The number of bytes that libcurl was given.
    ///   - uploaded: The number of bytes that it has sent, with chunk framing where there is any.
    func mayKeepBytes(given: Int, uploaded: Int) -> Bool {
        guard request.body?.length == nil, speaksHTTP1 else { return given > uploaded }
        // Below 8.7 libcurl requests a chunk only when the last one is out.
        guard Libcurl.found.sharesReceiveBuffer else { return false }
        let now = (uploaded: uploaded, queued: queuedBytes)
        defer { state.run.sentAtPause = now }
        return now.queued > 0 || state.run.sentAtPause.map { $0 != now } ?? true
    }

    // MARK: The response's body

    /// Whether the response has ended before its request's body has: libcurl ends a transfer when both have.
    ///
    /// A length says it. Without one, over HTTP/1, libcurl no longer waits for bytes from the server. It doesn't either
    /// while the body is paused or has a rate, while TLS has to send before it can receive, and below 8.7 when the
    /// connection has ended within the body: there the request's body goes on, and libcurl judges at its end. Over
    /// HTTP/2 nothing shows the end of a 2xx but the server's RST_STREAM (RFC 9113 §8.1), after which libcurl ends the
    /// transfer, as it does after any other status.
    var hasEarlyEnd: Bool {
        guard state.hasHandedOutHead, isSendingBody, state.response.failure == nil else { return false }
        if let length = state.response.bodyLength { return channel.receivedBytes == length }
        guard speaksHTTP1, let (socket, interest) = state.run.wanted, !interest.contains(.read),
            !state.run.isHeldBack, interest.isEmpty || !plan.maySendOverTLS,
            !request.options.hasRareOptions || request.options.rate == TransportOptions.Rate()
        else { return false }
        return Libcurl.found.sharesReceiveBuffer || !ReceiveQueue.hasEnded(socket)
    }

    /// The largest part of a discarded body that is read to keep its connection, in bytes.
    static let maximumDrained = 65_536

    /// Whether the response's body may be paused.
    var isPausable: Bool { if case .pause = state.whenFull { true } else { false } }

    /// Lets more of the body wait for its reader.
    func widenFlow() { if isPausable { state.whenFull = .pause(above: BodyFlow.roomyMark) } }
}

extension NetworkError {
    fileprivate static var noCleanConnection: NetworkError {
        NetworkError(
            .connectionLost,
            "none of the connections that libcurl chose could be used",
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
