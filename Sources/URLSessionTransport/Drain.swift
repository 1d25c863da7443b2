import NetworkCore
import Synchronization

/// The exchanges that are not over, and whether there may be more.
final class Drain: Sendable {
    private struct State {
        var isClosed = false
        var exchanges: [ObjectIdentifier: Exchange] = [:]
        var waiting: [FirstOutcome<Void>] = []
    }

    private let state = Guarded(State())

    /// Adds an exchange; `false` after ``close()``.
    func enter(_ exchange: Exchange) -> Bool {
        state.withLock { state in
            guard !state.isClosed else { return false }
            state.exchanges[ObjectIdentifier(exchange)] = exchange
            return true
        }
    }

    func leave(_ exchange: Exchange) {
        let (gone, waiting) = state.withLock { state in
            let gone = state.exchanges.removeValue(forKey: ObjectIdentifier(exchange))
            guard state.exchanges.isEmpty else { return (gone, [FirstOutcome<Void>]()) }
            defer { state.waiting = [] }
            return (gone, state.waiting)
        }
        withExtendedLifetime(gone) {}
        for outcome in waiting { outcome.finish(.success(())) }
    }

    func close() { state.withLock { $0.isClosed = true } }

    var open: [Exchange] { state.withLock { Array($0.exchanges.values) } }

    /// Returns when no exchange is left, after a time, or at the task's cancellation.
    func wait(for time: Duration) async {
        let end = FirstOutcome<Void>()
        let isOver = state.withLock { state in
            if !state.exchanges.isEmpty { state.waiting.append(end) }
            return state.exchanges.isEmpty
        }
        guard !isOver, time > .zero else { return }
        let clock = Task {
            try? await Task.sleep(for: time)
            end.finish(.success(()))
        }
        defer { clock.cancel() }
        // A cancellation ends the wait like its time.
        try? await end.value(orWhenCancelled: NetworkError.cancelled)
    }
}
