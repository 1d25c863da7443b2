import NetworkCore
import Foundation
import Synchronization

/// The events of a scripted server, shared by its threads and the test.
final class ScriptedLog: Sendable {
    struct State {
        var requests: [ReceivedRequest] = []
        var accepted = 0
        var ended = 0
        var endedByPeer = 0
        var isStopped = false
        var sockets: [Int: LoopbackSocket] = [:]
        var watchers: [UUID: @Sendable () -> Void] = [:]
    }

    private let state = Guarded(State())
    private let stopped = Gate()

    var snapshot: State { state.withLock { $0 } }

    /// Adds a connection.
    /// - Returns: The number of the connection; `nil` after the stop.
    func add(_ socket: LoopbackSocket) -> Int? {
        change { state in
            guard !state.isStopped else { return nil }
            let number = state.accepted
            state.accepted += 1
            state.sockets[number] = socket
            return number
        }
    }

    func add(_ request: ReceivedRequest) { change { $0.requests.append(request) } }

    /// Removes a connection. Its descriptor is closed after this, so a stop never touches a reused descriptor.
    func remove(_ number: Int, endedByPeer: Bool) {
        change { state in
            state.sockets[number] = nil
            state.ended += 1
            if endedByPeer, !state.isStopped { state.endedByPeer += 1 }
        }
    }

    func stop() {
        change { state in
            state.isStopped = true
            for socket in state.sockets.values { socket.interrupt() }
        }
        stopped.open()
    }

    func whenStopped(_ action: @escaping @Sendable () -> Void) { stopped.whenOpen(action) }

    /// Calls an action after every change, until ``unwatch(_:)``.
    func watch(_ action: @escaping @Sendable () -> Void) -> UUID {
        let key = UUID()
        state.withLock { $0.watchers[key] = action }
        return key
    }

    func unwatch(_ key: UUID) { state.withLock { $0.watchers[key] = nil } }

    private func change<Result: Sendable>(_ body: (inout sending State) -> Result) -> Result {
        let (result, watchers) = state.withLock { state in
            let result = body(&state)
            return (result, Array(state.watchers.values))
        }
        for watcher in watchers { watcher() }
        return result
    }
}
