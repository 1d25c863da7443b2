import NetworkCore

/// The work that is due because time has passed.
extension LoopCore {
    func checkClocks() {
        var share = RoundShare(stride: Self.stride)
        while let slot = state.deadlines.popDue(clock.now) {
            if let transfer = state.transfers[slot] { check(transfer) }
            if share.isSpent() { return }
        }
    }

    func check(_ transfer: Transfer) {
        if transfer.state.life.isInLibcurl, let failure = transfer.state.response.failure {
            return abandon(transfer, failure)
        }
        if transfer.state.run.keepsBytes {
            transfer.state.run.keepsBytes = false
            resume(transfer)
            // A fault ends the transfer during the call.
            guard transfer.state.life.isInLibcurl else { return }
        }
        let progress = noteProgress(of: transfer)
        let mayBeStuck = progress.isConnected ? transfer.mayBeForgotten : transfer.mayBeStuck
        // Run more often, a transfer would exceed its rate.
        if mayBeStuck,
            !progress.isConnected || transfer.state.response.lastActivity + transfer.longestPause <= clock.now
        {
            callLibcurl(for: transfer) { $0.nudge($1) }
            // A fault ends the transfer during the call.
            guard transfer.state.life.isInLibcurl else { return }
        }
        // A slow reader does not make the server idle, nor do other transfers.
        if transfer.state.run.isYielding || transfer.channel.isPaused {
            transfer.state.response.lastActivity = clock.now
        }
        let verdict = transfer.state.clocks.check(
            at: clock.now, isConnected: progress.isConnected, lastActivity: transfer.state.response.lastActivity,
            isSending: progress.isSending, waitsSince: progress.waitsSince,
            waitsForLookUp: transfer.state.life == .waiting
                && state.admission.waitsForLookUp(transfer.state.slot, of: transfer.origin),
            waiting: state.admission.waiting)
        switch verdict {
        case .lookAgain(let time):
            let due = mayBeStuck ? min(time, clock.now + Self.nudgeInterval) : time
            state.deadlines.set(transfer.state.slot, noLaterThan: due)
        case .neverAgain where mayBeStuck:
            state.deadlines.set(transfer.state.slot, noLaterThan: clock.now + Self.nudgeInterval)
        case .neverAgain: break
        case .fail(let code):
            let error = transfer.timeout(code)
            abandon(transfer, code == .connectTimeout ? transfer.ofConnecting(error) : error)
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
        var progress = Progress(isSending: transfer.state.run.easy?.reader != nil)
        guard let begun = transfer.state.clocks.begun, let easy = transfer.state.run.easy,
            let connectedAfter = easy.connectedAfter
        else { return progress }
        progress.isConnected = true
        resolved(transfer)
        let connected = begun.adding(microseconds: connectedAfter)
        if !transfer.state.response.hasFinalResponse {
            progress.waitsSince = max(connected, transfer.state.response.wentOut ?? connected)
        }
        transfer.state.response.lastActivity = max(transfer.state.response.lastActivity, connected)
        if let reader = easy.reader {
            let (sent, queued) = (easy.uploadedBytes, transfer.queuedBytes)
            transfer.state.response.sent(sent - queued, by: clock.now)
            progress.isSending = queued > 0 || !reader.isWhole(sent: sent) || !transfer.state.response.hasResponse
        }
        return progress
    }

    /// The time after which a transfer that connects is run, where libcurl may wait for it.
    static let nudgeInterval = Duration.milliseconds(500)
}
