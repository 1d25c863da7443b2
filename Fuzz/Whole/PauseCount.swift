import Synchronization

/// Counts pauses, and throws on the ninth.
final class PauseCount: Sendable {
    private let count = Atomic(0)

    func add() throws {
        if count.add(1, ordering: .relaxed).newValue > 8 { throw CancellationError() }
    }
}
