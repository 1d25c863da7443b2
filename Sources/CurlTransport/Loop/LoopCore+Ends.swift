import NetworkCore

/// How transfers pause, go on and end, and the loop with them.
extension LoopCore {
    func takeDone() {
        leavesDone = false
        var share = RoundShare()
        while let (transfer, code) = multi?.nextDone() {
            if let easy = transfer.easy {
                if transfer.needsFreshConnection, transfer.state.failure == nil, beginAgain(transfer, easy) { continue }
                transfer.channel.end(transfer.result(of: easy, code))
                transferWasTouched(transfer)
            }
            retire(transfer)
            if share.isSpent() {
                leavesDone = true
                return
            }
        }
    }

    /// Ends a transfer from our side. Its caller learns now; libcurl lets go as soon as that blocks nothing.
    func abandon(_ transfer: Transfer, _ error: any Error) {
        let isFirst = transfer.state.failure == nil
        transfer.state.fail(error)
        transfer.channel.finish(.failure(transfer.noted(error)))
        guard transfer.isInMulti else {
            return retire(transfer)
        }
        // While its name is looked up, a thread of libcurl's waits for the name service. Removing the handle would join
        // that thread, or, from 7.87 on, leave it behind uncounted. So the transfer stays until the look-up ends,
        // refusing whatever comes. DNS over HTTPS has no thread, but libcurl below 8.9 would leave the connections of
        // its requests open; they end by the connect timeout that they began with. The end of one behind a SOCKS proxy
        // may go unseen, so it is waited for no longer than the C library takes.
        if let easy = transfer.easy, transfer.lookUp.isUnderWay(at: clock.now), easy.canOutlastLookUp() {
            // Once: another transfer may resolve the name while this look-up hangs.
            if isFirst {
                let wasLookingUp = transfer.isLookingUp
                transfer.isLookingUp = state.admission.chill(transfer.origin, isLookingUp: wasLookingUp)
            }
            state.transfers.giveUp(transfer)
            state.deadlines.set(transfer.slot, to: clock.now + Self.lookupCheck)
        } else {
            retire(transfer)
        }
    }

    /// How often an abandoned transfer is looked at. It has no other clock any more.
    private static let lookupCheck = Duration.milliseconds(100)

    /// The rest is not wanted. A small one is read to its end, so that the connection can be kept.
    func discard(_ transfer: Transfer) {
        guard let easy = transfer.easy, transfer.isInMulti, let announced = easy.announcedBytes,
            announced - easy.downloadedBytes <= Self.drainedBytes
        else { return abandon(transfer, NetworkError.cancelled) }
        transfer.clocks.drain(until: clock.now + Self.drainTime)
        check(transfer)
        resume(transfer)
    }

    /// Lets a paused transfer go on. What it held back is written at once, and a callback may refuse it.
    func resume(_ transfer: Transfer) { goOn(transfer) { $0.resume($1) } }

    /// Has libcurl try the next address of those that were refused by one (``LibcurlSupport/Quirk``).
    func tryNextAddresses() {
        guard !state.refused.isEmpty else { return }
        let refused = state.refused
        state.refused.removeAll(keepingCapacity: true)
        for transfer in refused { goOn(transfer) { $0.nudge($1) } }
    }

    private func goOn(_ transfer: Transfer, _ call: (MultiHandle, EasyHandle) -> MultiHandle.Fault?) {
        clock.beginCall()
        guard transfer.isInMulti, let multi, let easy = transfer.easy, let code = call(multi, easy) else { return }
        transfer.channel.finish(transfer.result(of: easy, code))
        retire(transfer)
    }

    private static let drainedBytes = 65_536
    private static let drainTime = Duration.seconds(1)

    /// Lets those go on that were paused for the others' sake, each in a call of its own: in one call, they would share
    /// it.
    func resumeYielding() {
        guard !state.yielding.isEmpty else { return }
        var share = RoundShare(from: .now)
        var (count, all) = (0, state.yielding.count)
        while count < all {
            let transfer = state.yielding[count]
            count += 1
            transfer.isYielding = false
            resume(transfer)
            if let due = multiDeadline, due <= clock.now { callForTimer(havingBegun: 0) }
            if share.isSpent() { all = count }
        }
        state.yielding.removeFirst(count)
    }

    /// Takes a transfer out of libcurl or out of the queue, and lets the next one in.
    func retire(_ transfer: Transfer) {
        if transfer.isAdmitted {
            noteConnection(of: transfer)
            if let easy = transfer.easy, transfer.isInMulti { multi?.remove(easy) }
            transfer.isInMulti = false
            admit(state.admission.leave(transfer.origin, isLookingUp: transfer.isLookingUp))
            transfer.isLookingUp = false
        } else {
            admit(state.admission.withdraw(transfer.slot, from: transfer.origin))
        }
        freeSlot(of: transfer)
    }

    /// What the next request over the transfer's connection has to know.
    private func noteConnection(of transfer: Transfer) {
        let isHTTP1 = !transfer.speaksHTTP1 && transfer.state.head.isHTTP1
        guard isHTTP1 || transfer.spoilsConnection, let port = transfer.easy?.localPort else { return }
        let place = transfer.place(ofConnectionFrom: port)
        if isHTTP1 { state.keptSockets.speaksHTTP1(from: place) }
        if transfer.spoilsConnection { state.keptSockets.spoil(from: place) }
    }

    func freeSlot(of transfer: Transfer) {
        state.deadlines.remove(transfer.slot)
        state.transfers.remove(transfer)
        transfer.delegate = nil
        letGo(transfer)
    }

    func letGo(_ transfer: Transfer) {
        transfer.closeUpload()
        transfer.letGo()
    }

    func end() {
        // What ended in this round has left its slot already.
        flushTouched()
        mailbox.close()
        var late: [LoopMessage] = []
        mailbox.take(into: &late, &jobs)
        // A round may have left some of its messages, too.
        for case .start(let transfer) in messages + late {
            transfer.channel.finish(.failure(NetworkError.shutDown))
            letGo(transfer)
        }
        for transfer in state.transfers.all {
            transfer.channel.finish(.failure(NetworkError.shutDown))
            if let easy = transfer.easy, transfer.isInMulti { multi?.remove(easy) }
            letGo(transfer)
        }
        state.transfers = TransferTable()
        state.yielding = []
        messages = []
        multi?.close()
        multi = nil
        for job in jobs { LoopExecutor.runElsewhere(job) }
        jobs = []
    }
}
