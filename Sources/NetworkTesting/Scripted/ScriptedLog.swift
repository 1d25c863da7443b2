import NetworkCore
import Foundation
import Synchronization

/// The events of a scripted server, shared by its threads and the test.
final class ScriptedLog: Sendable {
    struct State {
        var progress = ScriptedServer.Progress()
        var isStopped = false
        var sockets: [Int: LoopbackSocket] = [:]
        var watchers: [UUID: @Sendable (ScriptedServer.Progress) -> Void] = [:]
    }

    private let state = Guarded(State())
    private let stopped = Gate()

    var snapshot: State { state.withLock { $0 } }

    /// Adds a connection, and returns its number; `nil` after the stop.
    func add(_ socket: LoopbackSocket) -> Int? {
        change { state in
            guard !state.isStopped else { return nil }
            let number = state.progress.connectionCount
            state.progress.connectionCount += 1
            state.sockets[number] = socket
            return number
        }
    }

    func add(_ request: ReceivedRequest) { change { $0.progress.requests.append(request) } }

    /// Removes a connection. Its descriptor is closed after this, so a stop never touches a reused descriptor.
    func remove(_ number: Int, endedByPeer: Bool) {
        change { state in
            state.sockets[number] = nil
            state.progress.endedConnectionCount += 1
            if endedByPeer, !state.isStopped { state.progress.connectionsEndedByPeer += 1 }
        }
    }

    func stop() {
        change { state in
            state.isStopped = true
            for socket in state.sockets.values { socket.interrupt() }
        }
        stopped.open()
    }

    /// Runs an action when the server stops. Returns the key for ``forget(_:)``.
    func whenStopped(_ action: @escaping @Sendable () -> Void) -> Int { stopped.whenOpen(action) }
    func forget(_ key: Int) { stopped.forget(key) }

    /// Calls an action after each change until ``unwatch(_:)`` with the key; `now` is before the first one.
    func watch(_ action: @escaping @Sendable (ScriptedServer.Progress) -> Void) -> (
        key: UUID, now: ScriptedServer.Progress
    ) {
        let key = UUID()
        return state.withLock { state in
            state.watchers[key] = action
            return (key, state.progress)
        }
    }

    func unwatch(_ key: UUID) { state.withLock { $0.watchers[key] = nil } }

    private func change<Result: Sendable>(_ body: (inout sending State) -> Result) -> Result {
        state.withLock { state in
            let result = body(&state)
            // Under the lock, so that each watcher gets the changes in their order.
            for watcher in state.watchers.values { watcher(state.progress) }
            return result
        }
    }
}
