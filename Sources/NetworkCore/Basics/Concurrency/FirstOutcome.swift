import Synchronization

/// A result that is delivered once: later outcomes are discarded. The outcome or its waiter may come first.
package final class FirstOutcome<Value: Sendable>: Sendable {
    private enum State {
        case empty
        case waiting(CheckedContinuation<Value, any Error>)
        case early(Result<Value, any Error>)
        case delivered
    }

    private let state = Guarded(State.empty)

    package init() {}

    /// Attaches the task that waits. Must be called only once.
    package func attach(_ continuation: CheckedContinuation<Value, any Error>) {
        let early: Result<Value, any Error>? = state.withLock { state in
            guard case .early(let outcome) = state else {
                state = .waiting(continuation)
                return nil
            }
            state = .delivered
            return outcome
        }
        if let early { continuation.resume(with: early) }
    }

    package func value(
        orWhenCancelled error: any Error, onCancel: @Sendable () -> Void = {}
    ) async throws -> Value {
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { attach($0) }
        } onCancel: {
            onCancel()
            finish(.failure(error))
        }
    }

    /// Runs work against a timer that throws, each in a task of its own: work that ignores its cancellation must not
    /// hold up the caller.
    /// - Parameter error: The outcome in a cancelled task.
    static func racing(
        orWhenCancelled error: any Error,
        _ work: @escaping @Sendable () async throws -> Value,
        against timer: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        let outcome = FirstOutcome()
        let tasks = [work, timer].map { operation in
            Task {
                do { outcome.finish(.success(try await operation())) } catch { outcome.finish(.failure(error)) }
            }
        }
        defer { for task in tasks { task.cancel() } }
        return try await outcome.value(orWhenCancelled: error)
    }

    /// Delivers the outcome, or does nothing if there was one already.
    @discardableResult
    package func finish(_ outcome: Result<Value, any Error>) -> Bool {
        let (isFirst, waiting) = state.withLock { state -> (Bool, CheckedContinuation<Value, any Error>?) in
            switch state {
            case .empty:
                state = .early(outcome)
                return (true, nil)
            case .waiting(let continuation):
                state = .delivered
                return (true, continuation)
            case .early, .delivered:
                return (false, nil)
            }
        }
        waiting?.resume(with: outcome)
        return isFirst
    }
}

package final class OneTimeFlag: Sendable {
    private let flag = Atomic(false)

    package init() {}

    package func raise() -> Bool { !flag.exchange(true, ordering: .acquiringAndReleasing) }

    package var isRaised: Bool { flag.load(ordering: .acquiring) }
}
