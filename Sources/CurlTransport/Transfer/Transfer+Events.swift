import NetworkCore

/// What a transfer makes of libcurl's events: each goes to the transfer's state, and the verdict goes back.
extension Transfer: EasyEvents {
    func progresses(moved: Int) -> Bool {
        guard !state.run.tunnelResponse.progresses(in: clock.call, moved: moved) else { return true }
        state.response.fail(NetworkError.endlessRefusal)
        return false
    }

    /// The beginnings of the log lines on surplus bytes that libcurl discards after a chunked body and after a head
    /// (the latter below 8.7).
    private static let surplusWords: [StaticString] = ["Leftovers after chunking", "Excess found"]

    /// Has libcurl report a refused stream, where that decides whether the request goes out again. Not for most
    /// requests: the log takes as long as a tenth of a small one.
    func watchForRefusal() {
        guard !speaksHTTP1, !request.mayRepeat || state.sending.attempts > 0 else { return }
        _ = watchesLog()
    }

    private func watchesLog() -> Bool {
        do {
            try state.run.easy?.watchLog()
            return true
        } catch {
            state.response.fail(error)
            return false
        }
    }

    /// The line by which libcurl reports that a stream was refused, before and after the stream's number: up to 8.19 in
    /// its trace of HTTP/2. From its beginning on, since other lines have texts of the request and of the server.
    private static let refusals: [(StaticString, StaticString)] = [
        ("HTTP/2 stream ", " refused by server"), ("[HTTP/2] [", "] REFUSED_STREAM"),
        ("HTTP/3 stream ", " refused by server"),
    ]

    func logged(_ line: BorrowedBytes) {
        if Self.surplusWords.contains(where: line.begins) { _ = state.run.easy?.endsItsConnection() }
        if !speaksHTTP1, Self.refusals.contains(where: { line.begins(with: $0, thenNumberAnd: $1) }) {
            state.sending.streamWasRefused()
        }
    }

    /// Not for a transfer whose caller has its result.
    func lookUpBegins() -> Bool {
        guard state.response.failure == nil else { return false }
        guard state.run.lookUp.isOfPeer(isBehindProxy: plan.looksUpBehindProxy) else { return true }
        // libcurl looks a name up for a repeat, too.
        guard mayRepeat(sent: sentBytes), state.delegate?.transferMayLookUp(self) != false else { return false }
        state.run.lookUp.begins(at: clock.now)
        return true
    }

    // MARK: The response's head

    func headerArrived(_ line: BorrowedBytes) -> Bool {
        if state.response.receive(field: line, at: clock.now) { return true }
        state.sending.responseArrived()
        state.run.lookUp.requestGoesOut()
        if state.life.isLookingUp { state.delegate?.transferHasConnection(self) }
        let verdict = state.response.receive(headerLine: line, at: clock.now)
        // Before the response can end: then the connection is back in the pool.
        if state.response.doubtsFraming, state.run.easy?.endsItsConnection() != true { return false }
        if line.count <= 2, state.response.mayHideSurplus || request.method == .head, !watchesLog() { return false }
        if line.count <= 2, let report = request.interimResponse, !reportInterim(to: report) { return false }
        switch verdict {
        case .proceed: break
        case .headIsComplete: guard finalHeadArrived() else { return false }
        case .stop:
            // The bytes left on the connection are no response to another request.
            if speaksHTTP1 { _ = state.run.easy?.endsItsConnection() }
            return false
        }
        if origin.isSecure, state.run.tlsSession == nil, state.response.head.hasFinalHead {
            // At the end the connection has left the handle.
            state.run.tlsSession = state.run.easy?.tlsSession
        }
        return true
    }

    /// Reports an interim response, if that is what has just ended.
    /// - Returns: Whether to continue.
    private func reportInterim(to report: (HTTPResponse) -> Void) -> Bool {
        guard let bytes = state.response.interimHead else { return true }
        do {
            report(try ResponseHeadParser.parse(bytes))
            return true
        } catch {
            state.response.fail(error)
            return false
        }
    }

    /// - Returns: Whether to continue.
    private func finalHeadArrived() -> Bool {
        if expectsContinue, hasUnsentBody {
            if state.response.head.refusesExpectation {
                if !dropExpectation() { state.response.fail(NetworkError.refusedExpectation(request)) }
                return false
            }
            // libcurl would keep the connection, on which the server may still wait for the body.
            if owesBody, state.response.head.isHTTP1, state.run.easy?.endsItsConnection() != true { return false }
        }
        headIsComplete()
        return true
    }

    func headIsComplete() {
        state.hasHandedOutHead = true
        // libcurl knows the length once it has read the blank line; a compressed length says nothing about the decoded
        // body.
        channel.headArrived(state.response.wholeHead, whileSending: isSendingBody)
        state.delegate?.transferWasTouched(self)
    }

    // MARK: Bodies

    func bodyWanted(_ room: inout BorrowedRoom) -> Sending {
        state.run.isBodyWanted = true
        switch state.run.easy?.reader?.read(into: &room) {
        case .filled:
            if room.filled > 0 { state.response.lastActivity = clock.now }
            return .filled
        case .pause:
            if let easy = state.run.easy, let reader = easy.reader,
                mayKeepBytes(given: reader.position, uploaded: easy.uploadedBytes)
            {
                state.delegate?.transferKeepsBytes(self)
            }
            return .pause
        case .failure(let error):
            state.response.fail(error)
            return .stop
        case nil: return .stop
        }
    }

    func bodyArrived(_ piece: BorrowedBytes) -> Receiving {
        let receiving = take(piece)
        if hasRequestBody { state.run.isHeldBack = receiving == .pause }
        return receiving
    }

    private func take(_ piece: BorrowedBytes) -> Receiving {
        let isSpent = clock.state.isSpent(by: piece.count, at: piece.place, of: state.run.easy?.receiveBuffer ?? 0)
        if isSpent, isPausable, state.response.failure == nil {
            state.delegate?.transferYields(self)
            return .pause
        }
        let isFirst = !state.response.hasBody
        guard !piece.isEmpty, state.response.receiveBody(at: clock.now) else { return .stop }
        let announced = isFirst ? state.run.easy?.announcedBytes : nil
        let (arrival, received, hasMemory) = channel.bodyArrived(
            piece.count, of: announced, whenFull: state.whenFull
        ) { $0.append(piece) }
        guard hasMemory else {
            state.response.fail(NetworkError.noMemoryForBody)
            return .stop
        }
        switch arrival {
        case .take:
            state.delegate?.transferWasTouched(self)
            progress?(TransferProgress(completed: received, total: state.run.easy?.announcedBytes))
        case .drop:
            state.drained += piece.count
            // Of a body without a length, no more than of one with a length.
            if state.clocks.isDraining, state.drained > Self.maximumDrained {
                state.response.fail(NetworkError.cancelled)
                return .stop
            }
        // Nothing is consumed: libcurl delivers the same bytes again.
        case .pause:
            state.delegate?.transferWasTouched(self)
            return .pause
        case .tooLarge(let limit):
            state.response.fail(NetworkError.bodyTooLarge(limit: limit))
            return .stop
        }
        return .taken
    }
}

extension NetworkError {
    /// libcurl sends the request again after such a response, so that the response itself can't be handed out.
    fileprivate static func refusedExpectation(_ request: TransportRequest) -> NetworkError {
        let reason =
            request.mayRepeat
            ? "which can't be produced again"
            : "and the \(request.method.rawValue) may have been executed "
                + "(connection.repeatsAnyMethod)"
        return NetworkError(
            .connectionLost,
            "the server refused the expectation (417) after part of the body went out, \(reason)", phase: .receiving)
    }

    fileprivate static var endlessRefusal: NetworkError {
        NetworkError(
            .proxyFailed,
            "the proxy's responses to CONNECT have more than \(TunnelResponse.maximumBytes) bytes together",
            phase: .connecting)
    }
}
