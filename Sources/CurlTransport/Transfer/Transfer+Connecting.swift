import NetworkCore

/// How a transfer gets a connection. The address policy checks each address before a connection to it is made
/// (CURLOPT_OPENSOCKETFUNCTION), so that a pool has no other ones. CURLOPT_PREREQFUNCTION counts how often the request
/// goes out.
extension Transfer {
    /// Returns whether libcurl may connect to an address. Not for a transfer whose caller has its result: it stays in
    /// libcurl while its name is looked up, and would send its request afterwards.
    func mayConnect(to address: SocketAddress) -> Bool {
        guard state.response.failure == nil else { return false }
        let isUnlimited = !request.options.hasRareOptions || request.options.addressPolicy == .any
        if isUnlimited || allows(address.ip) { return true }
        state.delegate?.transferFoundNoSocket(self)
        return false
    }

    func socketOpened(_ descriptor: Int32) {
        // Of another address than this one.
        (state.run.socketFailure, state.run.refusedAddress) = (nil, nil)
        state.delegate?.transfer(self, opened: descriptor)
    }

    func socketFailed(_ number: Int32) {
        state.run.socketFailure = number
        state.delegate?.transferFoundNoSocket(self)
    }

    /// Whether libcurl may wait for its own timer with the next address (``LibcurlSupport/Quirk``).
    var mayBeStuck: Bool {
        let hasTriedAddress =
            !state.run.openedSockets.isEmpty || state.run.socketFailure != nil || state.run.refusedAddress != nil
        return hasTriedAddress && state.life.isInLibcurl && !state.run.lookUp.isKnown
            && Libcurl.found.suffers(from: .refusedAddressesWait)
    }

    /// Whether libcurl may forget to run the transfer, which has a rate (``LibcurlSupport/Quirk``). Not while it is
    /// paused: running it would lift the pause.
    var mayBeForgotten: Bool {
        guard request.options.hasRareOptions, Libcurl.found.suffers(from: .ratedTransfersStall) else { return false }
        let rate = request.options.rate
        return (rate.maximumReceivedPerSecond != nil || rate.maximumSentPerSecond != nil) && state.life.isInLibcurl
            && !state.run.isYielding && !channel.isPaused
    }

    /// The time after which a transfer with a rate that has not moved is run: libcurl's own pauses are shorter.
    var longestPause: Duration { max(.milliseconds(2_500), TransferLimits.pause(of: request.options) / 2) }

    func waits(on descriptor: Int32, for interest: Epoll.Interest) {
        if hasRequestBody {
            state.run.wanted = (descriptor, interest)
            if state.response.head.hasFinalHead { state.delegate?.transferWasTouched(self) }
        }
        if hasRequestBody, !interest.isEmpty {
            state.run.sendingSocket = descriptor
        } else if state.run.sendingSocket == descriptor {
            state.run.sendingSocket = nil
        }
        state.delegate?.transfer(self, waitsOn: descriptor, for: interest)
    }

    /// Refuses what can't be read as an address.
    private func allows(_ address: AddressPolicy.Address?) -> Bool {
        guard let address else { return false }
        if request.options.addressPolicy.allows(address) { return true }
        state.run.refusedAddress = address
        return false
    }

    func mayGoOut(over ends: ConnectionEnds) -> Bool {
        mayGoOut(over: ends, sent: sentBytes)
    }

    /// - Parameter sent: The number of bytes of the request that have gone out.
    func mayGoOut(over ends: ConnectionEnds, sent: Int) -> Bool {
        // It may have waited for another transfer's connection, and ended from our side meanwhile.
        guard state.response.failure == nil else { return false }
        state.run.lookUp.requestGoesOut()
        if state.life.isLookingUp { state.delegate?.transferHasConnection(self) }
        guard mayRepeat(sent: sent) else { return false }
        // Another connection may be clean. A body of which libcurl has read a part goes out from its start over another
        // one alone: libcurl rewinds it only if it has counted bytes as sent.
        if hasReadBody || state.delegate?.transfer(self, goesOutOver: ends) == false {
            avoidConnection()
            return false
        }
        guard !state.hasHandedOutHead else {
            state.response.fail(NetworkError.respondedBefore)
            return false
        }
        watchForRefusal()
        guard state.sending.goesOut(sent: sent) else { return false }
        state.run.isBodyWanted = false
        state.response.goesOut(at: clock.now)
        if state.sending.attempts > 1 { state.delegate?.transferGoesOutAgain(self) }
        return true
    }
}

extension Transfer {
    /// Checks that the request may go out, for the first time or again.
    func mayRepeat(sent: Int) -> Bool {
        if state.sending.mayGoOut(sent: sent) { return true }
        state.response.fail(
            state.sending.isRefused
                ? NetworkError.refusedAgain(state.sending.attempts) : NetworkError.notRepeated(request.method.rawValue))
        return false
    }

    /// Returns the error of a connection that was not made. Where the request has gone out before, over a kept one, the
    /// error must not say that the server never got it.
    func ofConnecting(_ error: any Error) -> any Error {
        guard let error = error as? NetworkError, error.phase == .connecting, state.sending.isRepeat,
            !state.sending.mayGoOut(sent: sentBytes)
        else { return error }
        var lost = NetworkError.notRepeated(request.method.rawValue)
        lost.underlying = error.underlying
        return lost
    }
}

extension Transfer {
    /// Lets the request go out again if a kept connection broke before a byte of the response, or the server refused
    /// its stream. libcurl repeats such a request itself, but only five times, before 8.14 only if the break shows
    /// while it reads and not while it still sends the body, and over HTTP/2 not if the connection just ends.
    func considerRepeat(of easy: EasyHandle, after code: CurlCode) {
        let isLoss = code == .sendError || !speaksHTTP1 && (code == .http2 || code == .recvError)
        guard isLoss, state.response.failure == nil, !state.response.hasResponse,
            state.sending.attempts > 0, state.sending.mayGoOut(sent: sentBytes),
            state.sending.isRefused || easy.newConnections == 0
        else { return }
        state.life.beginAgain(.overNewConnection)
    }
}

extension NetworkError {
    /// For a request that would go out again after its caller has the head: what comes now would be another response's.
    fileprivate static var respondedBefore: NetworkError {
        NetworkError(
            .invalidResponse, "libcurl was about to send the request again after its response had arrived",
            phase: .receiving)
    }

    fileprivate static func refusedAgain(_ attempts: Int) -> NetworkError {
        NetworkError(
            .connectionLost,
            "the server refused the request's stream \(attempts) times; it was not executed", phase: .waiting)
    }

    fileprivate static func notRepeated(_ method: String) -> NetworkError {
        NetworkError(
            .connectionLost,
            "the connection, or the request's stream of it, ended without a response; the \(method) may have been "
                + "executed and is not sent again (connection.repeatsAnyMethod)",
            phase: .waiting
        )
    }
}
