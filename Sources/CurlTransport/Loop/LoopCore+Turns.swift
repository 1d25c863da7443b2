import NetworkCore
import Synchronization

/// The messages and jobs that reach the loop from other threads.
extension LoopCore {
    /// Runs the jobs and handles the messages. A job often sends the next request, which is handled in this round too.
    /// The number of passes is limited, or tasks that wake one another would keep the loop from its sockets.
    func takeMail() {
        var share = RoundShare(stride: Self.stride)
        for _ in 0..<Self.mailPasses {
            let hasRest = !messages.isEmpty
            mailbox.take(into: &messages, &jobs)
            if !hasRest { messages.reverse() }
            for job in jobs { executor.run(job) }
            let mayBringMore = !jobs.isEmpty
            jobs.removeAll(keepingCapacity: true)
            while let message = messages.popLast() {
                handle(message)
                if share.isSpent() { return }
            }
            guard mayBringMore else { return }
        }
    }

    private static let mailPasses = 8

    private func handle(_ message: LoopMessage) {
        switch message {
        case .start(let transfer): start(transfer)
        case .cancel(let transfer): if transfer.state.life != .outside { abandon(transfer, NetworkError.cancelled) }
        case .resume(let transfer): resume(transfer)
        case .discard(let transfer): if transfer.state.life != .outside { discard(transfer) }
        case .shutDown(let deadline): shutDownDeadline = min(shutDownDeadline ?? deadline, deadline)
        case .report(let answer): answer(state.figures.statistics(with: state.admission))
        }
    }

    private func start(_ transfer: Transfer) {
        guard !transfer.isCancelled.load(ordering: .acquiring) else { return releaseHandle(transfer) }
        state.transfers.insert(transfer)
        line(up: transfer)
    }

    /// Lets a transfer begin in its turn, or fails it if there is no place in the queue.
    func line(up transfer: Transfer) {
        switch transfer.state.life.arrive(transfer.state.slot, at: transfer.origin, in: &state.admission) {
        case .ready: state.admitted.append(transfer.state.slot)
        case .waiting: check(transfer)
        case .refused:
            // Before the caller has the error, and may send the same body again.
            transfer.closeUpload()
            transfer.channel.finish(.failure(transfer.noted(transfer.noPlace)))
            freeSlot(of: transfer)
        }
    }
}

/// How transfers start in libcurl.
extension LoopCore {
    /// Begins an admitted transfer.
    private func begin(_ transfer: Transfer) {
        if transfer.state.clocks.admitted == nil {
            transfer.state.clocks.admit(at: clock.now)
            transfer.state.response.lastActivity = clock.now
            if let upload = transfer.upload { attach(upload, to: transfer) }
        }
        do {
            try enterLibcurl(transfer)
            check(transfer)
        } catch {
            // Before the caller has the error, and may send the same body again.
            transfer.closeUpload()
            transfer.channel.finish(.failure(error))
            retire(transfer)
        }
    }

    /// Gives libcurl a transfer, unless it has to wait for a pool.
    private func enterLibcurl(_ transfer: Transfer) throws {
        guard let destination = try destination(of: transfer) else {
            return state.waitingForPool.append(transfer.state.slot)
        }
        let easy = try transfer.prepare(at: destination)
        transfer.state.delegate = self
        // Pools that are busy keep their connections: above the limit, each transfer ends its own.
        if state.sockets.openCount > limits.inAll, !transfer.isPrewarming { _ = easy.endsItsConnection() }
        wishBuffers(of: easy, for: transfer)
        try transfer.enterPool(of: destination, with: easy)
        transfer.state.life.begin()
    }

    /// Sets large buffers while few transfers run, but not where bandwidth is limited: libcurl enforces that by the
    /// buffer, and by pauses.
    private func wishBuffers(of easy: EasyHandle, for transfer: Transfer) {
        let (request, support) = (transfer.request, Libcurl.found)
        guard !request.options.hasRareOptions || request.options.rate == TransportOptions.Rate() else {
            easy.wishReceiveBuffer(support.receiveBufferBytes(rate: request.options.rate.maximumReceivedPerSecond))
            return easy.wishUploadBuffer(LibcurlSupport.defaultUploadBuffer)
        }
        let running = state.admission.running
        // Over HTTP/2 a handle below 8.7 keeps its buffer after its end.
        let mayBeLarge = support.sharesReceiveBuffer || transfer.asksForHTTP1
        easy.wishReceiveBuffer(
            mayBeLarge ? support.receiveBufferBytes(running: running) : LibcurlSupport.defaultBuffer)
        if easy.reader != nil {
            // Over TLS libcurl counts what it sends by the buffer, and only over HTTP/1 does the socket's queue give
            // more detail.
            easy.wishUploadBuffer(
                transfer.asksForHTTP1
                    ? support.uploadBufferBytes(running: running, body: request.body?.length)
                    : LibcurlSupport.defaultUploadBuffer)
        }
        if running <= LibcurlSupport.fewTransfers { transfer.widenFlow() }
    }

    private func attach(_ upload: UploadChannel, to transfer: Transfer) {
        let mailbox = mailbox
        upload.onMore { [weak transfer] in
            // A loop that has ended has closed the channel.
            if let transfer { _ = mailbox.post(.resume(transfer)) }
        }
    }

    func admit(_ turns: [Admission.Turn]) {
        for turn in turns {
            state.admitted.append(turn.slot)
            guard let transfer = state.transfers[turn.slot] else { continue }
            transfer.state.life.take(turn)
            state.figures.waited(max(.zero, clock.now - transfer.sent), for: transfer.origin)
        }
    }

    /// Records that a transfer has finished the lookup of its name.
    func resolved(_ transfer: Transfer) {
        guard transfer.state.life.isLookingUp else { return }
        admit(transfer.state.life.nameIsResolved(of: transfer.origin, in: &state.admission))
    }

    /// - Returns: The number of transfers given to libcurl that may need a TLS connection.
    func beginAdmitted() -> Int {
        guard !state.admitted.isEmpty else { return 0 }
        var share = RoundShare(stride: Self.stride)
        var (count, secure) = (0, 0)
        while count < min(state.admitted.count, Self.beginsOfARound), secure < pace.count {
            let slot = state.admitted[count]
            count += 1
            // The transfer may have ended meanwhile, and its slot may belong to another one.
            guard let transfer = state.transfers[slot], transfer.state.life.isReady else { continue }
            if transfer.origin.isSecure { secure += 1 }
            begin(transfer)
            if share.isSpent() { break }
        }
        state.admitted.removeFirst(count)
        return secure
    }

    /// libcurl connects all of them in its next call.
    private static let beginsOfARound = 16

    /// - Returns: Whether the transfer runs, or waits for its turn.
    func begin(_ transfer: Transfer, again: TransferLife.Again) -> Bool {
        leavePool(transfer)
        transfer.state.life.leaveLibcurl()
        do {
            switch again {
            case .overNewConnection:
                try transfer.beginAgain()
                try enterLibcurl(transfer)
                // The connection's time begins anew, and the next check may have been far off.
                state.deadlines.set(transfer.state.slot, noLaterThan: clock.now)
            case .fromTheQueue:
                try transfer.withdraw()
                transfer.state.delegate = nil
                admit(transfer.state.life.end(transfer.state.slot, of: transfer.origin, in: &state.admission))
                line(up: transfer)
            }
            return true
        } catch {
            transfer.state.response.fail(error)
            return false
        }
    }
}
