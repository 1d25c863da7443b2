import CLibrary
import NetworkCore

extension NetworkError {
    static func addressRefused(_ address: AddressPolicy.Address) -> NetworkError {
        NetworkError(.addressRefused, "the address policy does not allow \(address)", phase: .connecting)
    }

    fileprivate static func noSocket(_ number: Int32) -> NetworkError {
        NetworkError(
            .connectFailed,
            number == EMFILE || number == ENFILE
                ? "no socket could be opened: there is no descriptor left" : "no socket could be opened",
            phase: .connecting,
            underlying: .errno(number)
        )
    }
}

extension Transfer {
    /// Returns the caller's result for a transfer that libcurl reports as done.
    func result(of easy: EasyHandle, _ code: CurlCode) -> Result<ExchangeEnd, any Error> {
        outcome(of: easy, code).mapError { noted(ofConnecting($0)) }
    }

    /// Ends the exchange for its caller, whose response is over, while the request's body still goes out.
    func endEarly() {
        guard let easy = state.run.easy else { return }
        channel.end(.success(ExchangeEnd(self, easy.info(hasRequestBody: hasRequestBody))))
        upload?.leave()
    }

    /// Returns an error with the number of repeats added.
    func noted(_ error: any Error) -> any Error {
        guard state.sending.repeats > 0, let error = error as? NetworkError else { return error }
        return error.during(request, transport: "curl", elapsed: elapsed, repeats: state.sending.repeats)
    }

    /// The error of a request for which the queue has no place. One that has gone out may have been executed.
    var noPlace: NetworkError {
        let reason = "too many requests wait already (maximumQueued)"
        if state.sending.attempts == 0 { return NetworkError(.overloaded, reason, phase: .queued) }
        return NetworkError(
            .connectionLost,
            "the kept connection ended without a response, and the request can't be sent again: \(reason)",
            phase: .waiting)
    }

    private func outcome(of easy: EasyHandle, _ code: CurlCode) -> Result<ExchangeEnd, any Error> {
        if let failure = state.response.failure { return .failure(failure) }
        let info = easy.info(hasRequestBody: hasRequestBody)
        if code == .couldNotConnect, let address = state.run.refusedAddress {
            return .failure(NetworkError.addressRefused(address))
        }
        if isPrewarming, code == .badFunctionArgument, state.sending.isUnsent(sent: sentBytes), info.newConnections > 0
        {
            return .failure(ConnectionIsOpen())
        }
        if code == .couldNotConnect, let number = state.run.socketFailure {
            return .failure(NetworkError.noSocket(number))
        }
        if code == .couldNotConnect, let text = easy.failureText, request.options.proxy.isNamed(in: text) {
            return .failure(CurlFailure.noProxy(code, text: text))
        }
        let phase = state.response.hasResponse ? .receiving : CurlFailure.phase(of: code) ?? phaseWithoutResponse(info)
        guard code == .ok else {
            let isInBody = state.response.hasResponse && state.response.head.hasFinalHead
            if asksForHTTP3, state.sending.attempts == 0,
                let error = CurlFailure.noQUIC(code, text: easy.failureText, isAlone: plan.key.version == .http3Only)
            {
                return .failure(error)
            }
            var error = CurlFailure.error(
                code, text: easy.failureText, phase: phase, isInBody: isInBody, verification: easy.verificationResult)
            // With TLS 1.3 the server judges the certificate when its client may send already, and its alert may get
            // lost behind the end of the connection.
            if error.code == .connectionLost, !state.response.hasResponse, request.options.tls.clientCertificate != nil,
                request.url.scheme == "https", info.newConnections > 0
            {
                error.message += "; the server may have refused the client certificate (tls.clientCertificate)"
            }
            return .failure(error)
        }
        guard state.response.head.hasFinalHead else {
            // libcurl reports success for a head that the end of the connection cut off.
            let message = "the connection ended within the response's head"
            return .failure(NetworkError(.connectionLost, message, phase: phase))
        }
        state.run.hasEndedWell = true
        return .success(ExchangeEnd(self, info))
    }

    /// From 8.14 on, libcurl's clocks show the request as sent even where a proxy refused the tunnel.
    private func phaseWithoutResponse(_ info: TransferInfo) -> NetworkError.Phase {
        if state.sending.attempts == 0 { return .connecting }
        return info.phase(hasResponse: false)
    }

    /// The phase that the transfer has reached, for an error of our own.
    var phase: NetworkError.Phase {
        if state.clocks.admitted == nil, state.sending.attempts == 0 { return .queued }
        return state.run.easy?.info(hasRequestBody: hasRequestBody).phase(hasResponse: state.response.hasResponse)
            ?? .waiting
    }

    /// Returns the error of an expired timeout.
    func timeout(_ code: NetworkError.Code) -> NetworkError {
        let options = request.options
        let phase = code == .connectTimeout ? .connecting : phase
        guard code == .connectTimeout, state.life == .waiting || state.run.lookUp.isKnown else {
            var error = NetworkError.timeout(code, of: options, phase: phase)
            if plan.key.version == .http3Only, phase == .connecting {
                error.message += "; HTTP/3 needs UDP to its port"
            }
            return error
        }
        let time = options.connectTimeout ?? .zero
        return NetworkError(code, "the host's name was not resolved within \(time) (connectTimeout)", phase: phase)
    }
}

/// The result of a transfer without a request: its connection is open and in the pool.
struct ConnectionIsOpen: Error {}
