import Synchronization
import NetworkLayer

/// Tasks that are under way, to be cancelled together.
final class TaskTable: Sendable {
    private struct State {
        var last = 0
        var running: [Int: Task<Void, Never>] = [:]
        /// Those that were done before they were added: a task may end before its starter has it in hand.
        var doneEarly: Set<Int> = []
    }

    private let state = Guarded(State())

    /// A number for the next task.
    func nextNumber() -> Int {
        state.withLock { state in
            state.last += 1
            return state.last
        }
    }

    func add(_ task: Task<Void, Never>, as number: Int) {
        state.withLock { state in
            if state.doneEarly.remove(number) == nil { state.running[number] = task }
        }
    }

    /// Notes that a task is done.
    func remove(_ number: Int) {
        state.withLock { state in
            if state.running.removeValue(forKey: number) == nil { state.doneEarly.insert(number) }
        }
    }

    func cancelAll() {
        let tasks = state.withLock { Array($0.running.values) }
        for task in tasks { task.cancel() }
    }

    /// How many are under way.
    var count: Int { state.withLock { $0.running.count } }
}
