import NetworkCore

/// The events that transfers report to their loop from inside libcurl.
extension LoopCore: TransferDelegate {
    /// The time after which libcurl, once resumed, sends what it held at a pause and requests more.
    private static let keptBytesCheck = Duration.milliseconds(10)

    func transferWasTouched(_ transfer: Transfer) {
        guard !transfer.state.isTouched else { return }
        transfer.state.isTouched = true
        state.touched.append(transfer)
    }

    func transferKeepsBytes(_ transfer: Transfer) {
        guard !transfer.state.run.keepsBytes else { return }
        transfer.state.run.keepsBytes = true
        state.deadlines.set(transfer.state.slot, noLaterThan: clock.now + Self.keptBytesCheck)
    }

    func transferYields(_ transfer: Transfer) {
        guard !transfer.state.run.isYielding else { return }
        transfer.state.run.isYielding = true
        state.yielding.append(transfer)
    }

    func transfer(_ transfer: Transfer, opened descriptor: Int32) {
        if state.openers[descriptor] != nil { poolWillClose(descriptor) }
        state.sockets.opened(descriptor)
        state.figures.opened(descriptor, for: transfer.origin)
        transfer.state.run.openedSockets.append(descriptor)
        if transfer.connectsAnew() { state.deadlines.set(transfer.state.slot, noLaterThan: clock.now) }
        if Libcurl.found.suffers(from: .refusedAddressesWait) {
            let isInternet = SocketName.localPort(of: descriptor) != nil
            state.openers[descriptor] = Opener(transfer: transfer, isInternet: isInternet)
            state.deadlines.set(transfer.state.slot, noLaterThan: clock.now + Self.nudgeInterval)
        }
        transfer.state.run.lookUp.socketOpened()
        if !transfer.plan.looksUpBehindProxy { resolved(transfer) }
    }

    func transferFoundNoSocket(_ transfer: Transfer) {
        if Libcurl.found.suffers(from: .refusedAddressesWait) { state.refused.append(transfer) }
    }

    /// Records that a socket was closed without a report, as libcurl 7.88 to 8.1 does with one that has not connected:
    /// its number has become that of another kind of descriptor, such as a resolver's.
    private func noteSilentClose(of descriptor: Int32) {
        guard let opener = state.openers[descriptor], opener.isInternet,
            SocketName.localPort(of: descriptor) == nil
        else { return }
        poolWillClose(descriptor)
    }

    /// Detects a kept connection: a transfer that waits on a socket which another transfer opened needs no lookup.
    func transfer(_ transfer: Transfer, waitsOn descriptor: Int32, for interest: Epoll.Interest) {
        noteSilentClose(of: descriptor)
        guard transfer.state.life.isLookingUp, !interest.isEmpty, state.sockets.isOurs(descriptor),
            !transfer.state.run.openedSockets.contains(descriptor)
        else { return }
        resolved(transfer)
    }

    func transferMayLookUp(_ transfer: Transfer) -> Bool {
        // A repeat: the connection before was usable, and the next one is not.
        if transfer.connectsAnew() { state.deadlines.set(transfer.state.slot, noLaterThan: clock.now) }
        return transfer.state.life.mayLookUp(transfer.origin, in: &state.admission)
    }

    func transferGoesOutAgain(_ transfer: Transfer) { state.deadlines.set(transfer.state.slot, noLaterThan: clock.now) }

    /// Checks the connection: bytes, or an end, that wait on a kept connection belong to no request, and this one would
    /// take them for its response. In HTTP/2 a server may send other frames at any time, so that its end alone counts;
    /// under TLS 1.3 it sends tickets before its first response, which follows them.
    func transfer(_ transfer: Transfer, goesOutOver ends: ConnectionEnds) -> Bool {
        if transfer.mayBeForgotten {
            state.deadlines.set(transfer.state.slot, noLaterThan: clock.now + Self.nudgeInterval)
        }
        transfer.learnVersion()
        let place = transfer.place(ofConnectionFrom: ends.localPort)
        let kept = state.keptSockets.use(from: place, serves: !transfer.isPrewarming)
        // A number that another transfer's connection has now is no longer this transfer's.
        let own = transfer.state.run.openedSockets.last { descriptor in
            guard SocketName.localPort(of: descriptor) == place.port else { return false }
            return descriptor == transfer.state.run.connection || !kept.contains { $0.descriptor == descriptor }
        }
        if let own {
            if own != transfer.state.run.connection {
                state.keptSockets.made(own, from: place, serves: !transfer.isPrewarming)
                transfer.state.run.connection = own
                state.openers[own] = nil
            }
            return mayBegin(transfer, over: own)
        }
        let used = KeptSockets.those(of: ends, in: kept)
        guard transfer.speaksHTTP1 || used.contains(where: \.isHTTP1) else {
            guard used.contains(where: { $0.isBroken || ReceiveQueue.hasEnded($0.descriptor) }) else { return true }
            // libcurl (8.14 to 8.23) keeps one that the peer has ended or broken, and would choose it again.
            _ = transfer.state.run.easy?.endsItsConnection()
            return false
        }
        if transfer.avoidsKeptConnections { return false }
        let served = transfer.origin.isSecure ? used.filter(\.hasServed) : used
        if served.contains(where: { ReceiveQueue.holdsAnything($0.descriptor) }) { return false }
        if transfer.origin.isSecure, served.count < used.count { return mayBegin(transfer, overPrewarmed: used) }
        // What came in one record with the last response is decrypted already, and no socket shows it.
        return served.isEmpty || !transfer.origin.isSecure || transfer.state.run.easy?.holdsDecryptedBytes != true
    }

    /// Checks TLS connections that were opened ahead and have carried no request. One that the server has ended serves
    /// none. Bytes that wait may be TLS 1.3's tickets, which nothing but their decryption tells from a response that
    /// nothing asked for: such a connection serves one request. In older versions the tickets are a part of the
    /// handshake.
    /// - Returns: Whether the request may go out.
    private func mayBegin(_ transfer: Transfer, overPrewarmed used: [KeptSockets.Kept]) -> Bool {
        if used.contains(where: { ReceiveQueue.hasEnded($0.descriptor) }) { return false }
        let holds = used.contains { ReceiveQueue.holdsBytes($0.descriptor) }
        guard holds || transfer.state.run.easy?.holdsDecryptedBytes == true else { return true }
        guard transfer.state.run.easy?.tlsSession?.version == "1.3" else { return false }
        return transfer.state.run.easy?.endsItsConnection() == true
    }

    /// Lets a new connection carry no other request if bytes have come before its first one: they are its response, as
    /// an overloaded server may send it at once, and a second response would be the next request's.
    /// - Returns: Whether the request may go out.
    private func mayBegin(_ transfer: Transfer, over descriptor: Int32) -> Bool {
        guard transfer.speaksHTTP1, !transfer.isPrewarming else { return true }
        // Under TLS there may be tickets, of a proxy too.
        let isEarly =
            transfer.origin.isSecure
            ? transfer.state.run.easy?.holdsDecryptedBytes == true
            : !ProxyOption.maySpeakTLS(transfer.request.options) && ReceiveQueue.holdsBytes(descriptor)
        return !isEarly || transfer.state.run.easy?.endsItsConnection() == true
    }

    func transferHasConnection(_ transfer: Transfer) { resolved(transfer) }
}
