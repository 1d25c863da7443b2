import NetworkCore
import Foundation
import Synchronization

/// Something that happens once and that others wait for: how a test and a server's script keep in step without a clock.
public final class Gate: Sendable {
    private struct State {
        var isOpen = false
        var actions: [@Sendable () -> Void] = []
    }

    private let state = Guarded(State())

    /// A gate that is closed.
    public init() {}

    /// Whether it is open.
    public var isOpen: Bool { state.withLock(\.isOpen) }

    /// Opens it, for good. Everybody who waits goes on.
    public func open() {
        let actions = state.withLock { state in
            defer { state.actions = [] }
            state.isOpen = true
            return state.actions
        }
        for action in actions { action() }
    }

    /// Waits until it is open.
    /// - Throws: `CancellationError` when the task is cancelled first.
    public func wait() async throws {
        let (stream, continuation) = AsyncStream<Void>.makeStream()
        whenOpen { continuation.finish() }
        for await _ in stream {}
        if !isOpen { throw CancellationError() }
    }

    /// Runs an action when it opens, or at once if it is open.
    package func whenOpen(_ action: @escaping @Sendable () -> Void) {
        let isOpen = state.withLock { state in
            if !state.isOpen { state.actions.append(action) }
            return state.isOpen
        }
        if isOpen { action() }
    }
}
