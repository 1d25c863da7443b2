import Synchronization

/// One reading of a request's body by an exchange, for bodies that can be read anew. Once the exchange's response is
/// over, the rest of its request's body may still be sent for a while, and a new reading ends it.
package final class StreamReading: Sendable {
    private struct State {
        var isLeft: Bool
        var isCancelled = false
        var cancellation: (@Sendable () -> Void)?
    }

    private let state: Guarded<State>

    /// The reading for which the current task produces a body.
    @TaskLocal package static var current: StreamReading?

    /// - Parameter isLeft: Whether the response is over already.
    package init(isLeft: Bool) { state = Guarded(State(isLeft: isLeft)) }

    /// Records that the response is over.
    package func leave() { state.withLock { $0.isLeft = true } }

    /// Whether the response is over.
    var isLeft: Bool { state.withLock(\.isLeft) }

    /// Sets what ends the reading, and runs it if the reading has been cancelled.
    package func onCancel(_ cancellation: @escaping @Sendable () -> Void) {
        let isCancelled = state.withLock { state in
            state.cancellation = cancellation
            return state.isCancelled
        }
        if isCancelled { cancellation() }
    }

    /// Ends the reading.
    func cancel() {
        let cancellation = state.withLock { state in
            state.isCancelled = true
            return state.cancellation
        }
        cancellation?()
    }
}
