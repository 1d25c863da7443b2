import NetworkCore
import Foundation
import Synchronization

/// An event that happens once and that tasks and scripts wait for. It keeps a test and a server's script in step
/// without a clock.
public final class Gate: Sendable {
    private struct State {
        var isOpen = false
        var actions: [@Sendable () -> Void] = []
    }

    private let state = Guarded(State())

    /// Creates a closed gate.
    public init() {}

    /// Whether the gate is open.
    public var isOpen: Bool { state.withLock(\.isOpen) }

    /// Opens the gate permanently, and resumes everything that waits for it.
    public func open() {
        let actions = state.withLock { state in
            defer { state.actions = [] }
            state.isOpen = true
            return state.actions
        }
        for action in actions { action() }
    }

    /// Waits until the gate is open.
    /// - Throws: `CancellationError` if the task is cancelled first.
    public func wait() async throws {
        let (stream, continuation) = AsyncStream<Void>.makeStream()
        whenOpen { continuation.finish() }
        for await _ in stream {}
        if !isOpen { throw CancellationError() }
    }

    /// Runs an action when the gate opens, or immediately if it is open.
    package func whenOpen(_ action: @escaping @Sendable () -> Void) {
        let isOpen = state.withLock { state in
            if !state.isOpen { state.actions.append(action) }
            return state.isOpen
        }
        if isOpen { action() }
    }
}
