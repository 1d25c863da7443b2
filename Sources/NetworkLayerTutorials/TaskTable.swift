import Synchronization
import NetworkLayer

/// The running tasks, to be cancelled together.
final class TaskTable: Sendable {
    private struct State {
        var last = 0
        var running: [Int: Task<Void, Never>] = [:]
        /// The tasks that ended before they were added: a task may end before the code that started it has its handle.
        var doneEarly: Set<Int> = []
    }

    private let state = Guarded(State())

    /// Returns a number for the next task.
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

    /// Records that a task has ended.
    func remove(_ number: Int) {
        state.withLock { state in
            if state.running.removeValue(forKey: number) == nil { state.doneEarly.insert(number) }
        }
    }

    func cancelAll() {
        let tasks = state.withLock { Array($0.running.values) }
        for task in tasks { task.cancel() }
    }

    /// The number of running tasks.
    var count: Int { state.withLock { $0.running.count } }
}
