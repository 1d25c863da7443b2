import Foundation

/// Turns the first SIGINT, SIGTERM or SIGHUP into the cancellation of a task, so that the command deletes its temporary
/// files and a server closes in order. The end of ``grace`` ends the process, because a file or a pipe that blocks may
/// delay the orderly end. Until then further signals are the same wish, and change nothing: `timeout` signals the
/// process and then its group, and a terminal's user presses keys twice.
final class Interruption: Sendable {
    private let first = Guarded<Int32?>(nil)
    /// A queue of its own, because all threads of the task pool may be blocked.
    private let queue = DispatchQueue(label: "netlayer.end")
    /// The time for an orderly end, in seconds.
    private static let grace = 1.0

    /// The exit status for the signal that arrived; `nil` if none arrived.
    var status: ProcessStatus? { first.withLock { $0 }.flatMap { ProcessStatus(rawValue: 128 + $0) } }

    private let signals: [Int32]

    /// Blocks the signals, unless the parent process ignores them. The main thread creates it before any other thread
    /// begins, because each thread has its own mask.
    init() { signals = Signals.block([SIGINT, SIGTERM, SIGHUP]) }

    /// Runs the process's operation, and cancels it when a signal arrives.
    func guarding(_ operation: @escaping @Sendable () async -> ProcessStatus) async -> ProcessStatus {
        let task = Task { await operation() }
        let sources = signals.map { number in
            let source = DispatchSource.makeSignalSource(signal: number, queue: queue)
            source.setEventHandler { self.receive(number, task) }
            source.resume()
            return source
        }
        let status = await task.value
        return withExtendedLifetime(sources) { status }
    }

    /// Ends the process after a timeout that the command itself should have kept.
    func limit(toSeconds seconds: Double) {
        // On a busy machine the command begins later than this timer.
        queue.asyncAfter(deadline: .now() + seconds + 3 * Self.grace) {
            Self.endNow(.timeout, saying: "netlayer: totalTimeout: a file or a pipe blocks; --timeout sets the limit\n")
        }
    }

    private func receive(_ number: Int32, _ task: Task<ProcessStatus, Never>) {
        let isFirst = first.withLock { first in
            guard first == nil else { return false }
            first = number
            return true
        }
        guard isFirst, let status else { return }
        task.cancel()
        queue.asyncAfter(deadline: .now() + Self.grace) { Self.endNow(status) }
    }

    /// Ends the process without waiting: text that can't be written immediately is lost.
    private static func endNow(_ status: ProcessStatus, saying message: String = "") -> Never {
        Drafts.deleteAll()
        let error = Descriptor.standardError
        error.writeIfReady((error.isTerminal ? ProgressLine.wipe : "") + message)
        _exit(status.rawValue)
    }
}
