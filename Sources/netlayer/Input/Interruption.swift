import CLibrary
import Dispatch
import NetworkCore
import Synchronization

/// Turns the first SIGINT or SIGTERM into the cancellation of a task, so that temporary files go and a server closes in
/// order. A second one ends the process at once.
final class Interruption: Sendable {
    private let first = Guarded<Int32?>(nil)

    /// The status for the signal that came, if one did.
    var status: ProcessStatus? { first.withLock { $0 }.map { $0 == SIGINT ? .interrupted : .terminated } }

    /// Runs an operation that ends when a signal comes.
    func guarding(_ operation: @escaping @Sendable () async throws -> Void) async throws {
        let task = Task { try await operation() }
        let sources = [SIGINT, SIGTERM].map { number in
            // A dispatch source sees a signal only if its default action is off.
            signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
            source.setEventHandler { self.receive(number, task) }
            source.resume()
            return source
        }
        defer { sources.forEach { $0.cancel() } }
        try await task.value
    }

    private func receive(_ number: Int32, _ task: Task<Void, any Error>) {
        let isFirst = first.withLock { first in
            guard first == nil else { return false }
            first = number
            return true
        }
        if isFirst {
            task.cancel()
        } else {
            _exit(128 + number)
        }
    }
}
