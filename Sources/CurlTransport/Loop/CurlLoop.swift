import NetworkCore
import Synchronization

/// A loop from the other threads' side: transfers go in, outcomes come out. The thread lives until
/// ``shutDown(within:)``.
final class CurlLoop: Sendable {
    let clock = LoopClock()
    private let mailbox: Mailbox
    let end = LoopEnd()
    /// Whether no certificate is checked.
    let trustsAnyServer: Bool
    /// The executor that runs tasks on the loop's thread.
    let executor: LoopExecutor

    /// Starts the loop and its thread.
    /// - Parameter start: Runs a closure on a new thread; replaceable for tests.
    /// - Throws: ``NetworkError`` when descriptors, memory, or threads are short, or libcurl could not be initialized.
    init(
        limits: LoopLimits,
        start: (String, @escaping @Sendable () -> Void) throws -> Void = LoopThread.start
    ) throws {
        guard Libcurl.found.initialisation == 0 else {
            throw NetworkError(
                .unclassified,
                "libcurl could not be initialized (curl_global_init)",
                underlying: .init(domain: "libcurl", code: Libcurl.found.initialisation, message: "curl_global_init")
            )
        }
        guard Libcurl.found.version >= LibcurlSupport.oldest else {
            throw NetworkError.libcurlIsTooOld(Libcurl.found.version)
        }
        let wakeUp = try WakeUp()
        let mailbox = Mailbox(wakeUp: wakeUp)
        self.mailbox = mailbox
        trustsAnyServer = limits.trustsAnyServer
        executor = LoopExecutor(mailbox: mailbox)
        // Created here, where a failure can be thrown; from then on only the loop's thread touches it.
        let core = HandedOver(
            try LoopCore(
                limits: limits, mailbox: mailbox, executor: executor, clock: clock))
        try start("netlayer-curl") { [end, executor] in
            executor.begin()
            if limits.runInBatches { LoopThread.scheduleInBatches() }
            core.value.run()
            end.comes()
        }
    }

    /// Hands a transfer to the loop.
    func start(_ transfer: Transfer) {
        guard !mailbox.post(.start(transfer)) else { return }
        transfer.channel.finish(.failure(NetworkError.shutDown(.preparing)))
    }

    /// Ends a transfer, whether it has started or not. Its caller gets the error at once, the loop ends it a little
    /// later.
    func cancel(_ transfer: Transfer) {
        transfer.isCancelled.store(true, ordering: .releasing)
        // Not only when the loop ends the transfer: the caller may send the same body again at once.
        transfer.closeUpload()
        guard transfer.channel.finish(.failure(NetworkError.cancelled)) else { return }
        // A loop that has ended has nothing left to cancel.
        _ = mailbox.post(.cancel(transfer))
    }

    /// Resumes a paused sender. Has no effect on a transfer that has ended.
    func resume(_ transfer: Transfer) { _ = mailbox.post(.resume(transfer)) }

    /// Discards the rest of the body.
    func discard(_ transfer: Transfer) { _ = mailbox.post(.discard(transfer)) }

    /// The loop's statistics; `nil` if it has ended.
    var statistics: TransportStatistics? {
        get async {
            await withCheckedContinuation { continuation in
                if !mailbox.post(.report(to: { continuation.resume(returning: $0) })) {
                    continuation.resume(returning: nil)
                }
            }
        }
    }

    /// Accepts no more transfers, and ends the thread when the present ones are over, after `patience` at the latest.
    /// Returns at once.
    func shutDown(within patience: Duration) {
        // A loop that has ended has nothing left to end.
        _ = mailbox.post(.shutDown(deadline: .now + patience))
    }
}

extension NetworkError {
    fileprivate static func libcurlIsTooOld(_ version: LibcurlVersion) -> NetworkError {
        NetworkError(
            .unsupported,
            "libcurl \(version) is too old: the curl transport needs \(LibcurlSupport.oldest) or newer, as in "
                + "Debian 12 and Ubuntu 24.04 (the article 'Deploying a program' says how; "
                + "NETWORK_TRANSPORT=urlsession works without)",
            phase: .preparing)
    }

    /// The error of a request that a shutdown refuses, or ends in a later phase.
    static func shutDown(_ phase: Phase) -> NetworkError {
        NetworkError(.shutDown, "the dispatcher was shut down", phase: phase)
    }
}
