import CCurl
import CLibrary
import NetworkCore

/// The callbacks that libcurl calls while a transfer runs, always on the loop's thread. Each callback reports to the
/// transfer's state and follows the result; none of them removes or frees a handle.
extension Transfer {
    /// Registers the callbacks, which find the transfer by its handle.
    func attachCallbacks(to easy: EasyHandle) throws {
        let context = unsafe easy.context
        try unsafe easy.check(ccurl_easy_setopt_pointer(easy.pointer, CURLOPT_PRIVATE, context), "CURLOPT_PRIVATE")
        try unsafe easy.check(
            ccurl_easy_setopt_data_callback(easy.pointer, CURLOPT_HEADERFUNCTION, Self.header),
            "CURLOPT_HEADERFUNCTION"
        )
        try unsafe easy.check(
            ccurl_easy_setopt_pointer(easy.pointer, CURLOPT_HEADERDATA, context), "CURLOPT_HEADERDATA")
        try unsafe easy.check(
            ccurl_easy_setopt_data_callback(easy.pointer, CURLOPT_WRITEFUNCTION, Self.write),
            "CURLOPT_WRITEFUNCTION"
        )
        try unsafe easy.check(ccurl_easy_setopt_pointer(easy.pointer, CURLOPT_WRITEDATA, context), "CURLOPT_WRITEDATA")
        try unsafe easy.check(
            ccurl_easy_setopt_resolver_start_callback(easy.pointer, Self.resolverStart),
            "CURLOPT_RESOLVER_START_FUNCTION")
        try unsafe easy.check(
            ccurl_easy_setopt_pointer(easy.pointer, CURLOPT_RESOLVER_START_DATA, context),
            "CURLOPT_RESOLVER_START_DATA")
        try attachRequestCheck(to: easy)
        if ProxyOption.mayTunnel(request.options) { try attachTunnelCheck(to: easy) }
    }

    private func attachTunnelCheck(to easy: EasyHandle) throws {
        try easy.set(.noProgress, 0)
        try unsafe easy.check(
            ccurl_easy_setopt_progress_callback(easy.pointer, Self.progressed), "CURLOPT_XFERINFOFUNCTION")
        try unsafe easy.check(
            ccurl_easy_setopt_pointer(easy.pointer, CURLOPT_XFERINFODATA, easy.context), "CURLOPT_XFERINFODATA")
    }

    /// CURLOPT_XFERINFOFUNCTION. Any result other than 0 ends the transfer.
    private static let progressed: ccurl_progress_callback = { context, _, received, _, sent in
        unsafe Int32(
            EasyHandle.report(context, refusal: 1) { $0.progresses(moved: Int(received) &+ Int(sent)) ? 0 : 1 })
    }

    private func progresses(moved: Int) -> Bool {
        guard !tunnelAnswer.progresses(in: clock.call, moved: moved) else { return true }
        state.fail(NetworkError.endlessRefusal)
        return false
    }

    /// CURLOPT_RESOLVER_START_FUNCTION. Any result other than 0 ends the lookup.
    private static let resolverStart: ccurl_resolver_start_callback = { _, _, context in
        unsafe Int32(EasyHandle.report(context, refusal: 1) { $0.lookUpBegins() ? 0 : 1 })
    }

    /// - Returns: Whether the lookup may begin: not for a transfer whose caller has its result.
    private func lookUpBegins() -> Bool {
        guard state.failure == nil else { return false }
        lookUp.begins(at: clock.now, isBehindProxy: looksUpBehindProxy)
        return true
    }

    /// Returns the transfer of a handle that libcurl names.
    static func of(_ easy: UnsafeMutableRawPointer) -> Transfer? {
        var context: UnsafeMutableRawPointer?
        guard unsafe ccurl_easy_getinfo_pointer(easy, &context) == CURLE_OK else { return nil }
        return unsafe EasyHandle.transfer(context)
    }

    /// CURLOPT_HEADERFUNCTION: one line, including its line ending. Any count other than the given one ends the
    /// transfer.
    private static let header: ccurl_data_callback = { bytes, size, count, context in
        let line = unsafe UnsafeRawBufferPointer(start: bytes, count: size * count)
        return unsafe EasyHandle.report(context) { unsafe $0.headerArrived(line) ? line.count : 0 }
    }

    /// - Returns: Whether to continue.
    private func headerArrived(_ line: UnsafeRawBufferPointer) -> Bool {
        sending.responseArrived()
        lookUp.requestGoesOut()
        if isLookingUp { delegate?.transferHasConnection(self) }
        let verdict = unsafe state.receive(headerLine: line, at: clock.now)
        if unsafe Self.hasBareCR(line) { state.receivedBareCR() }
        // Before the response can end: then the connection is back in the pool.
        if state.doubtsFraming, easy?.endsItsConnection() != true { return false }
        if line.count <= 2, state.mayHideSurplus || request.method == .head, easy?.watchesForSurplus() != true {
            return false
        }
        switch verdict {
        case .goOn: break
        case .headIsComplete: guard finalHeadArrived() else { return false }
        case .stop:
            // The bytes left on the connection are no response to another request.
            if speaksHTTP1 { _ = easy?.endsItsConnection() }
            return false
        }
        if origin.isSecure, tlsSession == nil, state.head.hasFinalHead {
            // At the end the connection has left the handle.
            tlsSession = easy?.tlsSession
        }
        return true
    }

    /// Returns whether a line has a CR that is not part of its line ending.
    private static func hasBareCR(_ line: UnsafeRawBufferPointer) -> Bool {
        guard let start = line.baseAddress, let found = unsafe memchr(start, 0x0D, line.count) else { return false }
        return unsafe UnsafeRawPointer(found) - start < line.count - 2
    }

    /// - Returns: Whether to continue.
    private func finalHeadArrived() -> Bool {
        if expectsContinue, hasUnsentBody {
            if state.head.refusesExpectation {
                if !dropExpectation() { state.fail(NetworkError.refusedExpectation) }
                return false
            }
            // libcurl would keep the connection, on which the server may still wait for the body.
            if owesBody, state.head.isHTTP1, easy?.endsItsConnection() != true { return false }
        }
        // libcurl sends the request without the body to get a challenge, and sends it again if there was none.
        if state.head.isSuccess, mayHaveAskedFirst { state.holdHead() } else { headIsComplete() }
        return true
    }

    func headIsComplete() {
        hasHandedOutHead = true
        // libcurl knows the length once it has read the blank line; a compressed length says nothing about the decoded
        // body.
        channel.headArrived(state.head.bytes)
        delegate?.transferWasTouched(self)
    }

    /// Whether part of the body has not gone out.
    private var hasUnsentBody: Bool {
        guard let easy else { return false }
        let sent = easy.uploadedBytes
        return easy.reader.map { !$0.isWhole(sent: sent) } ?? (sent == 0 && request.body?.length != 0)
    }

    /// CURLOPT_READFUNCTION. 0 is the end.
    static let read: ccurl_data_callback = { buffer, size, count, context in
        let room = unsafe UnsafeMutableRawBufferPointer(start: buffer, count: size * count)
        return unsafe EasyHandle.report(context, refusal: ccurl_readfunc_abort) { unsafe $0.bodyWanted(room) }
    }

    private func bodyWanted(_ room: UnsafeMutableRawBufferPointer) -> Int {
        isBodyWanted = true
        switch unsafe easy?.reader?.read(into: room) {
        case .bytes(let count):
            if count > 0 { state.lastActivity = clock.now }
            return count
        case .pause:
            if let easy, let reader = easy.reader, mayKeepBytes(given: reader.position, uploaded: easy.uploadedBytes) {
                delegate?.transferKeepsBytes(self)
            }
            return ccurl_readfunc_pause
        case .failure(let error):
            state.fail(error)
            return ccurl_readfunc_abort
        case nil: return ccurl_readfunc_abort
        }
    }

    /// CURLOPT_WRITEFUNCTION: at most 16 KiB of the body, without transfer coding and before content decoding.
    private static let write: ccurl_data_callback = { bytes, size, count, context in
        let piece = unsafe UnsafeRawBufferPointer(start: bytes, count: size * count)
        return unsafe EasyHandle.report(context) { unsafe $0.bodyArrived(piece) }
    }

    /// - Returns: The result of CURLOPT_WRITEFUNCTION: the number of bytes that were taken, or the value that pauses or
    ///   ends the transfer.
    private func bodyArrived(_ piece: UnsafeRawBufferPointer) -> Int {
        let place = Int(bitPattern: piece.baseAddress)
        let isSpent = clock.callShare.isSpent(by: piece.count, at: place, of: easy?.receiveBuffer ?? 0)
        if isSpent, isPausable, state.failure == nil {
            delegate?.transferYields(self)
            return ccurl_writefunc_pause
        }
        let isFirst = !state.hasBody
        guard unsafe !piece.isEmpty, state.receiveBody(at: clock.now) else { return 0 }
        if state.releaseHead() { headIsComplete() }
        let announced = isFirst ? easy?.announcedBytes : nil
        let (arrival, received, hasMemory) = channel.bodyArrived(piece.count, of: announced, whenFull: whenFull) {
            unsafe $0.append(piece)
        }
        guard hasMemory else {
            state.fail(NetworkError.noMemoryForBody)
            return 0
        }
        switch arrival {
        case .take:
            delegate?.transferWasTouched(self)
            progress?.report(TransferProgress(completed: received, total: easy?.announcedBytes))
        case .drop: break
        // Nothing is consumed: libcurl delivers the same bytes again.
        case .pause:
            delegate?.transferWasTouched(self)
            return ccurl_writefunc_pause
        case .tooLarge(let limit):
            state.fail(NetworkError.bodyTooLarge(limit: limit))
            return 0
        }
        return piece.count
    }
}

extension NetworkError {
    fileprivate static var refusedExpectation: NetworkError {
        NetworkError(
            .connectionLost,
            "the server refused the expectation (417) after part of the body went out, which can't be produced again",
            phase: .receiving)
    }

    fileprivate static var endlessRefusal: NetworkError {
        NetworkError(
            .proxyFailed,
            "the proxy refused the tunnel with too long a body: its response to CONNECT has more than "
                + "\(TunnelAnswer.maximumBytes) bytes", phase: .connecting)
    }
}
