import Dispatch
import Foundation
import FoundationNetworking
import NetworkCore
import Synchronization

/// One exchange: passes events to its ``ExchangeState`` and performs the resulting reaction outside the lock.
final class Exchange: Sendable {
    typealias ReaderContinuation = CheckedContinuation<Data?, any Error>

    private struct Bookkeeping {
        var state: ExchangeState
        /// The reader that waits for more of the body.
        var reader: ReaderContinuation?
    }

    private struct Running {
        var task: URLSessionDataTask
        var atEnd: @Sendable () -> Void
    }

    let request: TransportRequest
    private let bookkeeping: Guarded<Bookkeeping>
    private let running = Guarded<Running?>(nil)
    private let alarm = Guarded<Alarm?>(nil)
    private let head = FirstOutcome<HTTPResponse>()
    private let commands: DispatchQueue
    private let alarms: DispatchQueue

    /// - Parameters:
    ///   - commands: The serial queue on which ``begin()`` and ``run(_:atEnd:)`` are called and tasks are cancelled.
    ///   - alarms: The queue of the deadlines.
    init(_ state: ExchangeState, commands: DispatchQueue, alarms: DispatchQueue) {
        self.request = state.request
        self.bookkeeping = Guarded(Bookkeeping(state: state))
        self.commands = commands
        self.alarms = alarms
    }

    /// Sets the continuation that waits for the head, and starts the clock. Call once, before ``begin()``:
    /// FoundationNetworking may be busy with another exchange for minutes, and starts no task meanwhile.
    func attach(_ continuation: CheckedContinuation<HTTPResponse, any Error>) {
        head.attach(continuation)
        alarm.withLock { $0 = Alarm(on: alarms) { [weak self] in self?.alarmRang() } }
        setAlarm()
    }

    /// Starts the exchange; returns whether it is still wanted.
    func begin() -> Bool { bookkeeping.withLock { $0.state.begin() } }

    /// Resumes the task.
    /// - Parameter atEnd: Called once the exchange is over.
    func run(_ task: URLSessionDataTask, atEnd: @escaping @Sendable () -> Void) {
        running.withLock { $0 = Running(task: task, atEnd: atEnd) }
        task.resume()
    }

    /// Ends the exchange for its caller, at once.
    func cancel() { handle { $0.cancel(at: .now) } }

    // MARK: The reader's side

    /// Returns the next bytes; `nil` at the end.
    func read() async throws -> Data? { try await read { $0.read(isCancelled: $1, at: .now) } }

    /// Returns everything that is left; `nil` if that is nothing.
    func collect(upTo limit: Int?) async throws -> Data? {
        try await read { $0.collect(upTo: limit, isCancelled: $1, at: .now) }
    }

    /// Discards the rest of the body.
    func discard() { handle { $0.discard(at: .now) } }

    /// The metrics so far, or in all once the exchange is over.
    var metrics: TransportMetrics { bookkeeping.withLock { $0.state.metrics(at: .now) } }

    private func read(
        _ attempt: (inout ExchangeState, _ isCancelled: Bool) -> (BodyInbox.Reading, ExchangeState.Reaction)
    ) async throws -> Data? {
        // Read before the handler below, which would end the exchange first, so that the state could only report how it
        // ended.
        let isCancelled = Task.isCancelled
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let (reading, reaction) = bookkeeping.withLock { bookkeeping in
                    let (reading, reaction) = attempt(&bookkeeping.state, isCancelled)
                    if case .waits = reading { bookkeeping.reader = continuation }
                    return (reading, reaction)
                }
                perform(reaction, reader: nil)
                if case .done(let result) = reading { continuation.resume(with: result) }
            }
        } onCancel: {
            cancel()
        }
    }

    // MARK: The delegate's side

    func sent(totalBytes: Int) { bookkeeping.withLock { $0.state.sent(totalBytes: totalBytes, at: .now) } }

    func received(_ head: HTTPResponse) { handle { $0.received(head, at: .now) } }

    func received(_ chunk: Data) { handle { $0.received(chunk, at: .now) } }

    func finished(lateHead: HTTPResponse?, cancellingTask: Bool = false) {
        handle { $0.finished(lateHead: lateHead, cancellingTask: cancellingTask, at: .now) }
    }

    func failed(_ error: NetworkError, cancellingTask: Bool = false) {
        handle { $0.failed(error, cancellingTask: cancellingTask, at: .now) }
    }

    /// Keeps a redirect as the response, unless the exchange is over.
    ///
    /// FoundationNetworking traps if a task is cancelled between its call and our completion, so the completion goes
    /// through the queue of the cancellations: before a cancellation it is harmless, and after one it must not be
    /// called.
    func keepRedirect(_ complete: @escaping @Sendable () -> Void) {
        commands.async { [self] in
            if running.withLock({ $0 != nil }) { complete() }
        }
    }

    // MARK: Reactions

    private func alarmRang() {
        handle { $0.alarm(at: .now) }
        setAlarm()
    }

    /// Runs on the alarms' queue, one at a time: an older deadline must not replace a newer one.
    private func setAlarm() {
        alarms.async { [self] in
            alarm.withLock { $0 }?.set(for: bookkeeping.withLock { $0.state.nextDeadline })
        }
    }

    private func handle(_ event: (inout ExchangeState) -> ExchangeState.Reaction) {
        let (reaction, reader) = bookkeeping.withLock { bookkeeping in
            let reaction = event(&bookkeeping.state)
            return (reaction, reaction.reading == nil ? nil : bookkeeping.reader.take())
        }
        perform(reaction, reader: reader)
    }

    private func perform(_ reaction: ExchangeState.Reaction, reader: ReaderContinuation?) {
        if let progress = reaction.progress {
            request.options.progress?(TransferProgress(completed: progress.received, total: progress.expected))
        }
        if let result = reaction.head { head.finish(result.mapError { $0 }) }
        if let result = reaction.reading { reader?.resume(with: result) }
        if reaction.setsAlarm { setAlarm() }
        if let due = reaction.checksConnection {
            let isOpen = ConnectionTable.hasConnection(to: request.url, at: due) ?? true
            handle { $0.connectionChecked(isOpen: isOpen, at: .now) }
        }
        guard reaction.isEnd else { return }
        alarm.withLock { $0.take() }?.cancel()
        // The start may still be in the queue; after it there is a task to cancel and to remove.
        commands.async { [self] in
            guard let ended = running.withLock({ $0.take() }) else { return }
            if reaction.cancelsTask { ended.task.cancel() }
            ended.atEnd()
        }
    }
}
