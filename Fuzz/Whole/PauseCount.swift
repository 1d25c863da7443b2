import Synchronization

/// Ends what pauses for the ninth time.
final class PauseCount: Sendable {
    private let count = Atomic(0)

    func add() throws {
        if count.add(1, ordering: .relaxed).newValue > 8 { throw CancellationError() }
    }
}
