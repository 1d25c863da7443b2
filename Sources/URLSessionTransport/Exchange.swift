import Dispatch
import Foundation
import NetworkCore
import Synchronization

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// One exchange: hands events to its ``ExchangeState`` and does what that asks for, outside the lock.
final class Exchange: Sendable {
    private struct Running {
        var task: URLSessionDataTask
        var alarm: Alarm
        var atEnd: @Sendable () -> Void
    }

    private let state: Guarded<ExchangeState>
    private let running = Guarded<Running?>(nil)
    private let outcome = FirstOutcome<TransportResponse>()
    private let request: TransportRequest
    private let commands: DispatchQueue
    private let alarms: DispatchQueue

    /// - Parameters:
    ///   - commands: The serial queue on which ``begin()`` and ``run(_:atEnd:)`` are called and tasks are cancelled.
    ///   - alarms: Where deadlines are looked after.
    init(_ state: ExchangeState, commands: DispatchQueue, alarms: DispatchQueue) {
        self.request = state.request
        self.state = Guarded(state)
        self.commands = commands
        self.alarms = alarms
    }

    /// Who waits for the outcome. To be called once.
    func attach(_ continuation: CheckedContinuation<TransportResponse, any Error>) { outcome.attach(continuation) }

    /// Whether the exchange is still wanted.
    func begin() -> Bool { state.withLock { $0.begin() } }

    /// Resumes the task and watches the clock.
    /// - Parameter atEnd: Called once the exchange is over.
    func run(_ task: URLSessionDataTask, atEnd: @escaping @Sendable () -> Void) {
        let alarm = Alarm(on: alarms) { [weak self] in self?.alarmRang() }
        running.withLock { $0 = Running(task: task, alarm: alarm, atEnd: atEnd) }
        task.resume()
        alarm.set(for: state.withLock { $0.nextDeadline })
    }

    /// Ends the exchange for its caller, at once.
    func cancel() { perform(state.withLock { $0.cancel() }) }

    // MARK: What the delegate tells

    func sent(totalBytes: Int) { state.withLock { $0.sent(totalBytes: totalBytes, at: .now) } }

    func received(_ head: HTTPResponse) { perform(state.withLock { $0.received(head, at: .now) }) }

    func received(_ chunk: Data) { perform(state.withLock { $0.received(chunk, at: .now) }) }

    func finished(lateHead: HTTPResponse?, cancellingTask: Bool = false) {
        perform(state.withLock { $0.finished(lateHead: lateHead, cancellingTask: cancellingTask, at: .now) })
    }

    func failed(_ error: NetworkError, cancellingTask: Bool = false) {
        perform(state.withLock { $0.failed(error, cancellingTask: cancellingTask) })
    }

    /// Hands a redirect back as it is, unless the exchange is over.
    ///
    /// FoundationNetworking traps if a task is cancelled between its question and our answer, so the answer goes through
    /// the queue of the cancellations: before one it is harmless, and after one it must not be given.
    func keepRedirect(_ answer: @escaping @Sendable () -> Void) {
        commands.async { [self] in
            if running.withLock({ $0 != nil }) { answer() }
        }
    }

    // MARK: What the state asks for

    private func alarmRang() {
        let reaction = state.withLock { $0.alarm(at: .now) }
        perform(reaction)
        if reaction.checksConnection {
            let isOpen = ConnectionTable.hasConnection(to: request.url) ?? true
            perform(state.withLock { $0.connectionChecked(isOpen: isOpen, at: .now) })
        }
        running.withLock { $0?.alarm }?.set(for: state.withLock { $0.nextDeadline })
    }

    private func perform(_ reaction: ExchangeState.Reaction) {
        if let progress = reaction.progress {
            request.options.progress?.report(progress.received, progress.expected)
        }
        guard let result = reaction.outcome else { return }
        outcome.finish(result.mapError { $0 })
        // The start may still be on its way through the queue; after it there is a task to cancel and to forget.
        commands.async { [self] in
            guard let ended = running.withLock({ $0.take() }) else { return }
            ended.alarm.cancel()
            if reaction.cancelsTask { ended.task.cancel() }
            ended.atEnd()
        }
    }
}
