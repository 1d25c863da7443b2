import Dispatch
import NetworkCore
import Synchronization

/// A queue on which entries are made and stored one after the other, so that no reader waits for that. The bytes that
/// wait have a limit.
final class EntryQueue: Sendable {
    private let queue: DispatchQueue
    private let waiting = Guarded(0)

    /// The limit on the bytes of all entries that wait, for a disk that is slower than the network.
    static let maximumQueued = 67_108_864

    init(_ name: String) { queue = DispatchQueue(label: "NetworkLayer.\(name)") }

    /// Adds work.
    /// - Parameter size: The number of bytes that the work holds.
    /// - Returns: Whether there was room for it.
    func add(size: Int, _ work: @escaping @Sendable () -> Void) -> Bool {
        let hasRoom = waiting.withLock { waiting in
            guard waiting == 0 || waiting + size <= Self.maximumQueued else { return false }
            waiting += size
            return true
        }
        guard hasRoom else { return false }
        queue.async { [self] in
            work()
            waiting.withLock { $0 -= size }
        }
        return true
    }

    /// Adds work that holds no bytes, for which there is always room.
    func post(_ work: @escaping @Sendable () -> Void) { queue.async { work() } }

    /// Runs work after everything that was added so far, and returns its result.
    func run<Result: Sendable>(_ work: @escaping @Sendable () -> Result) async -> Result {
        await withCheckedContinuation { continuation in
            queue.async { continuation.resume(returning: work()) }
        }
    }
}
