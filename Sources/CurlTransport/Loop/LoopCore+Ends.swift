import NetworkCore

/// How transfers pause, resume, and end, and how the loop ends.
extension LoopCore {
    func takeDone() {
        leavesDone = false
        var share = RoundShare(stride: Self.stride)
        while let (slot, code) = nextDone() {
            guard let transfer = state.transfers[slot] else { continue }
            if let easy = transfer.state.run.easy {
                if code == .http2 { state.keptSockets.broke(from: transfer.place(ofConnectionFrom: easy.localPort)) }
                transfer.considerRepeat(of: easy, after: code)
                if transfer.state.response.failure == nil, let again = transfer.state.life.again,
                    begin(transfer, again: again)
                {
                    continue
                }
                let result = transfer.result(of: easy, code)
                // Before the caller has the result, and may send the same body again.
                transfer.closeUpload()
                transfer.channel.end(result)
                transferWasTouched(transfer)
            }
            retire(transfer)
            if share.isSpent() {
                leavesDone = true
                return
            }
        }
    }

    private func nextDone() -> (slot: Int, code: CurlCode)? {
        for pool in state.pools.all where pool.mayHaveDone {
            if let done = pool.multi.nextDone() { return done }
            pool.mayHaveDone = false
        }
        return nil
    }

    /// Ends a transfer from our side. Its caller gets the error now; libcurl releases it as soon as that blocks
    /// nothing.
    func abandon(_ transfer: Transfer, _ error: any Error) {
        transfer.state.response.fail(error)
        transfer.closeUpload()
        transfer.channel.finish(.failure(transfer.noted(error)))
        guard transfer.state.life.isInLibcurl else { return retire(transfer) }
        // During a name lookup, one of libcurl's threads waits for the name server. Removing the handle would join that
        // thread, or, from 7.87 on, leave it behind uncounted. So the transfer stays until the lookup ends and refuses
        // all further steps. DNS over HTTPS has no thread, but libcurl below 8.9 would leave the connections of its
        // requests open; they end by the connect timeout that they began with. The end of a lookup behind a SOCKS proxy
        // may go unseen, so the wait for it is limited to the time that the C library takes.
        if let easy = transfer.state.run.easy, transfer.state.run.lookUp.isUnderWay(at: clock.now),
            easy.canOutlastLookUp()
        {
            transfer.state.life.linger(at: transfer.origin, in: &state.admission)
            state.deadlines.set(transfer.state.slot, noLaterThan: clock.now + Self.lookupCheck)
        } else {
            retire(transfer)
        }
    }

    /// The interval between checks of an abandoned transfer, which has no other clock.
    private static let lookupCheck = Duration.milliseconds(100)

    /// Ends the exchange for its caller if the response is over. The rest of the request's body has its last second,
    /// since a server may respond first and read then. If it is not out by then, the connection is closed.
    func endIfOver(_ transfer: Transfer) {
        guard transfer.state.life.isInLibcurl, transfer.hasEarlyEnd, !transfer.state.clocks.isDraining else { return }
        transfer.endEarly()
        transfer.state.clocks.drain(until: clock.now + Self.drainTime)
        state.deadlines.set(transfer.state.slot, noLaterThan: clock.now + Self.drainTime)
    }

    /// Discards the rest of a body. A small rest is read to its end, so that the connection can be kept. A request
    /// whose body is still going out gets the same time for it if the response is empty, or its length unknown.
    func discard(_ transfer: Transfer) {
        guard let easy = transfer.state.run.easy, transfer.state.life.isInLibcurl,
            easy.announcedBytes.map({ $0 - easy.downloadedBytes <= Transfer.maximumDrained }) ?? transfer.isSendingBody
        else { return abandon(transfer, NetworkError.cancelled) }
        transfer.state.clocks.drain(until: clock.now + Self.drainTime)
        check(transfer)
        resume(transfer)
    }

    /// Resumes a paused transfer. libcurl delivers what it held back at once, and a callback may refuse it.
    func resume(_ transfer: Transfer) { callLibcurl(for: transfer) { $0.resume($1) } }

    /// Makes libcurl try the next address for transfers whose current one refused (``LibcurlSupport/Quirk``).
    func tryNextAddresses() {
        guard !state.refused.isEmpty else { return }
        let refused = state.refused
        state.refused.removeAll(keepingCapacity: true)
        for transfer in refused { callLibcurl(for: transfer) { $0.nudge($1) } }
    }

    func callLibcurl(for transfer: Transfer, _ call: (MultiHandle, EasyHandle) -> CurlCode?) {
        clock.beginCall()
        guard transfer.state.life.isInLibcurl, let pool = transfer.state.run.pool, let easy = transfer.state.run.easy
        else { return }
        pool.mayHaveDone = true
        guard let code = call(pool.multi, easy) else { return }
        let result = transfer.result(of: easy, code)
        transfer.closeUpload()
        transfer.channel.finish(result)
        retire(transfer)
    }

    private static let drainTime = Duration.seconds(1)

    /// Resumes the transfers that were paused to let others run, each in a call of its own: in a single call they would
    /// share its time.
    func resumeYielding() {
        guard !state.yielding.isEmpty else { return }
        var share = RoundShare(from: .now)
        var (count, all) = (0, state.yielding.count)
        while count < all {
            let transfer = state.yielding[count]
            count += 1
            transfer.state.run.isYielding = false
            resume(transfer)
            callForTimers(havingBegun: 0)
            if share.isSpent() { all = count }
        }
        state.yielding.removeFirst(count)
    }

    /// Removes a transfer from libcurl or from the queue, and admits the next one.
    func retire(_ transfer: Transfer) {
        if transfer.state.life.isInLibcurl { noteConnection(of: transfer) }
        leavePool(transfer)
        admit(transfer.state.life.end(transfer.state.slot, of: transfer.origin, in: &state.admission))
        freeSlot(of: transfer)
    }

    /// Removes a transfer from its pool, if it is in one.
    func leavePool(_ transfer: Transfer) {
        if let pool = transfer.leavePool(at: clock.now), pool.running == 0 { poolIsIdle() }
    }

    /// Records what the next request over the transfer's connection depends on.
    private func noteConnection(of transfer: Transfer) {
        guard !transfer.asksForHTTP1, transfer.state.response.head.isHTTP1,
            let port = transfer.state.run.easy?.localPort
        else { return }
        state.keptSockets.speaksHTTP1(from: transfer.place(ofConnectionFrom: port))
    }

    func freeSlot(of transfer: Transfer) {
        if !state.refused.isEmpty { state.refused.removeAll { $0 === transfer } }
        state.transfers.remove(transfer)
        transfer.state.delegate = nil
        releaseHandle(transfer)
    }

    func releaseHandle(_ transfer: Transfer) {
        transfer.closeUpload()
        transfer.releaseHandle()
    }

    func end() {
        // Transfers that ended in this round have left their slots already.
        flushTouched()
        mailbox.close()
        var late: [LoopMessage] = []
        mailbox.take(into: &late, &jobs)
        // A round may have left some of its messages, too.
        for message in messages + late {
            switch message {
            case .start(let transfer):
                transfer.closeUpload()
                transfer.channel.finish(.failure(NetworkError.shutDown(.preparing)))
            case .report(let answer): answer(state.figures.statistics(with: state.admission))
            default: break
            }
        }
        for transfer in state.transfers.all {
            transfer.closeUpload()
            transfer.channel.finish(.failure(transfer.noted(NetworkError.shutDown(transfer.phase))))
            transfer.leavePool(at: clock.now)
            transfer.state.delegate = nil
            transfer.releaseHandle()
        }
        state.transfers = TransferTable()
        // The last removals have closed sockets, whose transfers would keep the loop.
        (state.yielding, state.refused, state.openers) = ([], [], [:])
        messages = []
        for pool in state.pools.all { close(pool) }
        for job in jobs { LoopExecutor.runElsewhere(job) }
        jobs = []
    }
}
