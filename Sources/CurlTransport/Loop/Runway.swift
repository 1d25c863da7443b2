import Synchronization

/// Whether a transfer that is sent now will soon run, as far as its sender can see. Then the sender's thread makes its
/// handle, which the loop's thread need not do. A transfer that waits for its turn has no handle: it would hold eleven
/// kilobytes.
final class Runway: Sendable {
    /// Transfers with a handle that the loop has not seen yet.
    private let prepared = Atomic(0)
    /// Whether transfers wait for their turn.
    private let isFull = Atomic(false)
    /// The most handles that are made ahead.
    private static let length = 64

    /// Asks to make a handle ahead. Its maker calls ``leave()`` when the loop has it.
    func enter() -> Bool {
        guard !isFull.load(ordering: .relaxed) else { return false }
        guard prepared.wrappingAdd(1, ordering: .relaxed).newValue <= Self.length else {
            leave()
            return false
        }
        return true
    }

    /// The loop has a transfer that was prepared ahead, or there was none after all.
    func leave() { prepared.wrappingSubtract(1, ordering: .relaxed) }

    /// The loop's word on whether transfers wait.
    func setFull(_ isFull: Bool) { self.isFull.store(isFull, ordering: .relaxed) }
}
