internal import NetworkCore
internal import NetworkTesting
internal import Synchronization

/// A place where tasks wait until the last of a given number has come: nothing that follows it happens before.
package final class Meeting: Sendable {
    private let everyone = Gate()
    private let size: Int
    private let arrived = Guarded(0)

    package init(of size: Int) { self.size = size }

    /// How many have come.
    package var count: Int { arrived.withLock { $0 } }

    /// Counts the caller without a wait.
    package func come() {
        let isLast = arrived.withLock { count in
            count += 1
            return count == size
        }
        if isLast { everyone.open() }
    }

    /// Waits for the others.
    /// - Throws: `CancellationError` if the task is cancelled first.
    package func wait() async throws { try await everyone.wait() }
}
