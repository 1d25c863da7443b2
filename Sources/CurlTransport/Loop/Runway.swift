import Synchronization

/// Whether a transfer that is sent now will run soon, as far as its sender can see. If so, the sender's thread creates
/// its handle and saves the loop's thread that work. A transfer that waits has no handle, which would hold eleven
/// kilobytes.
final class Runway: Sendable {
    /// The number of transfers with a handle that the loop has not seen yet.
    private let prepared = Atomic(0)
    /// Whether transfers wait to start.
    private let isFull = Atomic(false)
    /// The maximum number of handles that are created ahead.
    private static let length = 64

    /// Returns whether the caller may create a handle ahead. If so, ``leave()`` follows when the loop has the transfer.
    func enter() -> Bool {
        guard !isFull.load(ordering: .relaxed) else { return false }
        guard prepared.wrappingAdd(1, ordering: .relaxed).newValue <= Self.length else {
            leave()
            return false
        }
        return true
    }

    /// Records that the loop has a transfer that was prepared ahead, or that the preparation failed.
    func leave() { prepared.wrappingSubtract(1, ordering: .relaxed) }

    /// Records whether transfers wait, as the loop sees it.
    func setFull(_ isFull: Bool) { self.isFull.store(isFull, ordering: .relaxed) }
}
