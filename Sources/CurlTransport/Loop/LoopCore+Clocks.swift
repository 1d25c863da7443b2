import NetworkCore

/// The work that is due because time has passed.
extension LoopCore {
    func checkClocks() {
        var share = RoundShare(stride: Self.stride)
        while let slot = state.value.deadlines.popDue(clock.now) {
            if let transfer = state.value.transfers[slot] { check(transfer) }
            if share.isSpent() { return }
        }
    }

    func check(_ transfer: Transfer) {
        if transfer.life.isInLibcurl, let failure = transfer.state.failure { return abandon(transfer, failure) }
        if transfer.keepsBytes {
            transfer.keepsBytes = false
            resume(transfer)
            // A fault ends the transfer during the call.
            guard transfer.life.isInLibcurl else { return }
        }
        let progress = noteProgress(of: transfer)
        let mayBeStuck = progress.isConnected ? transfer.mayBeForgotten : transfer.mayBeStuck
        // Run more often, a transfer would exceed its rate.
        if mayBeStuck, !progress.isConnected || transfer.state.lastActivity + transfer.longestPause <= clock.now {
            goOn(transfer) { $0.nudge($1) }
            // A fault ends the transfer during the call.
            guard transfer.life.isInLibcurl else { return }
        }
        // A slow reader does not make the server idle, nor do other transfers.
        if transfer.isYielding || transfer.channel.isPaused { transfer.state.lastActivity = clock.now }
        let verdict = transfer.clocks.check(
            at: clock.now, isConnected: progress.isConnected, lastActivity: transfer.state.lastActivity,
            isSending: progress.isSending, waitsSince: progress.waitsSince,
            waitsForLookUp: transfer.life == .waiting
                && state.value.admission.waitsForLookUp(transfer.slot, of: transfer.origin),
            waiting: state.value.admission.waiting)
        switch verdict {
        case .lookAgain(let time):
            let due = mayBeStuck ? min(time, clock.now + Self.nudgeInterval) : time
            state.value.deadlines.set(transfer.slot, to: due)
        case .neverAgain where mayBeStuck:
            state.value.deadlines.set(transfer.slot, to: clock.now + Self.nudgeInterval)
        case .neverAgain: state.value.deadlines.remove(transfer.slot)
        case .fail(let code): abandon(transfer, transfer.timeout(code))
        }
    }

    /// How far a transfer has come, as only a check sees it.
    private struct Progress {
        var isConnected = false
        /// Whether a request body is going out.
        var isSending: Bool
        /// When the connection became usable, while no byte of the response has arrived.
        var waitsSince: MonotonicTime?
    }

    private func noteProgress(of transfer: Transfer) -> Progress {
        var progress = Progress(isSending: transfer.easy?.reader != nil)
        guard let begun = transfer.clocks.begun, let easy = transfer.easy,
            let connectedAfter = easy.connectedAfter
        else { return progress }
        progress.isConnected = true
        resolved(transfer)
        let connected = begun + .microseconds(connectedAfter)
        if !transfer.state.hasFinalResponse {
            progress.waitsSince = max(connected, transfer.state.wentOut ?? connected)
        }
        transfer.state.lastActivity = max(transfer.state.lastActivity, connected)
        if let reader = easy.reader {
            let (sent, queued) = (easy.uploadedBytes, transfer.queuedBytes)
            transfer.state.sent(sent - queued, by: clock.now)
            progress.isSending = queued > 0 || !reader.isWhole(sent: sent) || !transfer.state.hasResponse
        }
        return progress
    }

    /// The time after which a transfer that connects is run, where libcurl may wait for it.
    static let nudgeInterval = Duration.milliseconds(500)
}
