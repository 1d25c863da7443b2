import NetworkCore
import Foundation
import Synchronization

/// An event that happens once and that tasks and scripts wait for. It keeps a test and a server's script in step
/// without a clock.
public final class Gate: Sendable {
    private struct State {
        var isOpen = false
        var actions: [Int: @Sendable () -> Void] = [:]
        var lastKey = 0
    }

    private let state = Guarded(State())

    /// The number of actions that wait.
    var waitingCount: Int { state.withLock(\.actions.count) }

    /// Creates a closed gate.
    public init() {}

    /// Whether the gate is open.
    public var isOpen: Bool { state.withLock(\.isOpen) }

    /// Opens the gate permanently, and resumes everything that waits for it.
    public func open() {
        let actions = state.withLock { state in
            defer { state.actions = [:] }
            state.isOpen = true
            return state.actions.sorted { $0.key < $1.key }.map(\.value)
        }
        for action in actions { action() }
    }

    /// Waits until the gate is open.
    /// - Throws: `CancellationError` if the task is cancelled first.
    public func wait() async throws {
        let (stream, continuation) = AsyncStream<Void>.makeStream()
        let key = whenOpen { continuation.finish() }
        for await _ in stream {}
        forget(key)
        if !isOpen { throw CancellationError() }
    }

    /// Runs an action when the gate opens, or immediately if it is open. Returns the key for ``forget(_:)``.
    @discardableResult
    package func whenOpen(_ action: @escaping @Sendable () -> Void) -> Int {
        let (isOpen, key) = state.withLock { state in
            state.lastKey += 1
            if !state.isOpen { state.actions[state.lastKey] = action }
            return (state.isOpen, state.lastKey)
        }
        if isOpen { action() }
        return key
    }

    /// Removes an action of ``whenOpen(_:)`` that has not run.
    package func forget(_ key: Int) { state.withLock { $0.actions[key] = nil } }
}
