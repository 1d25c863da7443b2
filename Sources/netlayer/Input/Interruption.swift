import CLibrary
import Dispatch
import NetworkCore
import Synchronization

/// Turns the first SIGINT, SIGTERM or SIGHUP into the cancellation of a task, so that temporary files go and a server
/// closes in order. A second one ends the process at once, and so does a second without that end: a file or a pipe that
/// blocks may hold it back.
final class Interruption: Sendable {
    private let first = Guarded<Int32?>(nil)
    /// Of its own, since the tasks' threads may all be blocked.
    private let queue = DispatchQueue(label: "netlayer.end")
    /// The time for an end in order, in seconds.
    private static let grace = 1.0

    /// The status for the signal that came, if one did.
    var status: ProcessStatus? { first.withLock { $0 }.flatMap { ProcessStatus(rawValue: 128 + $0) } }

    /// Runs all that the process does, which ends when a signal comes; one that the parent has ignored stays ignored.
    func guarding(_ operation: @escaping @Sendable () async -> ProcessStatus) async -> ProcessStatus {
        let task = Task { await operation() }
        let sources = [SIGINT, SIGTERM, SIGHUP].compactMap { number -> (any DispatchSourceSignal)? in
            if Signals.ignore(number) { return nil }
            let source = DispatchSource.makeSignalSource(signal: number, queue: queue)
            source.setEventHandler { self.receive(number, task) }
            source.resume()
            return source
        }
        let status = await task.value
        return withExtendedLifetime(sources) { status }
    }

    /// Ends the process when a time is over that the command itself should have kept.
    func limit(toSeconds seconds: Double) {
        queue.asyncAfter(deadline: .now() + seconds + Self.grace) {
            Self.endNow(.timeout, saying: "netlayer: totalTimeout: a file or a pipe blocks; --timeout sets the limit\n")
        }
    }

    private func receive(_ number: Int32, _ task: Task<ProcessStatus, Never>) {
        let isFirst = first.withLock { first in
            guard first == nil else { return false }
            first = number
            return true
        }
        guard isFirst, let status else { _exit(128 + number) }
        task.cancel()
        queue.asyncAfter(deadline: .now() + Self.grace) { Self.endNow(status) }
    }

    /// Waits for nothing: what can't be written at once is not.
    private static func endNow(_ status: ProcessStatus, saying message: String = "") -> Never {
        Drafts.deleteAll()
        let error = Descriptor.standardError
        error.writeIfReady((error.isTerminal ? ProgressMeter.wipe : "") + message)
        _exit(status.rawValue)
    }
}
