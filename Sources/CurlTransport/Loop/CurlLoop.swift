import NetworkCore
import Synchronization

/// A loop as other threads see it: transfers go in, outcomes come out. The thread lives until
/// ``shutDown(within:)``.
final class CurlLoop: Sendable {
    let clock = LoopClock()
    private let mailbox: Mailbox
    private let runway = Runway()
    let end = LoopEnd()
    /// Runs tasks on the loop's thread.
    let executor: LoopExecutor

    /// Starts the thread.
    /// - Parameter start: Runs a body on a new thread, for tests.
    /// - Throws: ``NetworkError`` when descriptors, memory or threads are short.
    init(
        configuration: CurlNetworkDispatcher.Configuration,
        start: (String, @escaping @Sendable () -> Void) throws -> Void = LoopThread.start
    ) throws {
        guard Libcurl.found.initialisation == 0 else {
            throw NetworkError(
                .unclassified,
                "libcurl could not be initialised (curl_global_init)",
                underlying: .init(domain: "libcurl", code: Libcurl.found.initialisation, message: "curl_global_init")
            )
        }
        let wakeUp = try WakeUp()
        let mailbox = Mailbox(wakeUp: wakeUp)
        self.mailbox = mailbox
        executor = LoopExecutor(mailbox: mailbox)
        // Made here, where a failure can be thrown, and from then on touched by the thread alone.
        let core = HandedOver(
            try LoopCore(
                configuration: configuration, mailbox: mailbox, runway: runway, executor: executor, clock: clock))
        do {
            try start("netlayer-curl") { [end, executor] in
                executor.begin()
                if configuration.scheduling == .batch { LoopThread.scheduleInBatches() }
                core.value.run()
                end.comes()
            }
        } catch {
            core.value.abandonStart()
            throw error
        }
    }

    /// Makes a transfer's handle if it will run soon; else the loop does when its turn comes.
    /// - Throws: ``NetworkError`` for what libcurl refuses.
    func prepareAhead(_ transfer: Transfer) throws {
        guard runway.enter() else { return }
        do { try transfer.prepareAhead() } catch {
            runway.leave()
            throw error
        }
    }

    /// Hands a transfer to the loop.
    func start(_ transfer: Transfer) {
        guard !mailbox.post(.start(transfer)) else { return }
        if transfer.isPreparedAhead { runway.leave() }
        transfer.letGo()
        transfer.channel.finish(.failure(NetworkError.shutDown))
    }

    /// Ends a transfer, whether it has started or not: its caller learns of it at once, the loop a little later.
    func cancel(_ transfer: Transfer) {
        transfer.isCancelled.store(true, ordering: .releasing)
        guard transfer.channel.finish(.failure(NetworkError.cancelled)) else { return }
        // A loop that has ended has nothing left to cancel.
        _ = mailbox.post(.cancel(transfer))
    }

    /// Lets a paused sender go on. Late ones are for nobody.
    func resume(_ transfer: Transfer) { _ = mailbox.post(.resume(transfer)) }

    /// Nobody wants the rest of the body.
    func discard(_ transfer: Transfer) { _ = mailbox.post(.discard(transfer)) }

    /// Takes no more transfers, and ends the thread when those it has are over, at the latest after `patience`. Returns
    /// at once.
    func shutDown(within patience: Duration) {
        // A loop that has ended has nothing left to end.
        _ = mailbox.post(.shutDown(deadline: .now + patience))
    }
}

extension NetworkError {
    static var shutDown: NetworkError { NetworkError(.shutDown, "the dispatcher was shut down") }
}
