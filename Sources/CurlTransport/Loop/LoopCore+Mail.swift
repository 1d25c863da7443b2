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
        case .waiting:
            transfer.releaseHandle()
            check(transfer)
        case .refused:
            // Before the caller has the error, and may send the same body again.
            transfer.closeUpload()
            transfer.channel.finish(.failure(transfer.noted(transfer.noPlace)))
            freeSlot(of: transfer)
        }
    }
}
