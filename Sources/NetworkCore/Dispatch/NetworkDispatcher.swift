public import FoundationEssentials
import Synchronization

/// Carries requests. One method is enough to write your own:
///
/// ```swift
/// struct CannedDispatcher: NetworkDispatcher {
///     func dispatch(
///         request: RequestData,
///         onSuccess: @escaping @Sendable (Data) -> Void,
///         onError: @escaping @Sendable (any Error) -> Void
///     ) {
///         onSuccess(Data(#"[{"dataField1": "1", "dataField2": "1"}]"#.utf8))
///     }
/// }
///
/// let rows = try await GetAllSampleData().response(from: CannedDispatcher())
/// ```
///
/// A dispatcher that speaks HTTP should rather be an ``HTTPTransport``: it then has status, header fields, metrics,
/// validation and cancellation.
public protocol NetworkDispatcher: Sendable {
    /// Carries one request and calls exactly one of the closures, once, on any thread.
    ///
    /// If an implementation calls more often, the first call counts.
    func dispatch(
        request: RequestData,
        onSuccess: @escaping @Sendable (Data) -> Void,
        onError: @escaping @Sendable (any Error) -> Void
    )

    /// The same for `async` callers. The default wraps ``dispatch(request:onSuccess:onError:)``; cancelling the task
    /// then ends the wait at once with ``NetworkError/Code/cancelled``, and a late answer is dropped.
    func data(for request: RequestData) async throws -> Data
}

extension NetworkDispatcher {
    /// Waits for ``dispatch(request:onSuccess:onError:)``.
    public func data(for request: RequestData) async throws -> Data {
        if let refusal = request.refusal { throw refusal }
        let outcome = FirstOutcome<Data>()
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                outcome.attach(continuation)
                dispatch(
                    request: request,
                    onSuccess: { outcome.finish(.success($0)) },
                    onError: { outcome.finish(.failure($0)) }
                )
            }
        } onCancel: {
            outcome.finish(.failure(NetworkError.cancelled))
        }
    }
}

/// Delivers the first outcome and drops the others, whether it comes before or after the one who waits.
package final class FirstOutcome<Value: Sendable>: Sendable {
    private enum State {
        case empty
        case waiting(CheckedContinuation<Value, any Error>)
        case early(Result<Value, any Error>)
        case delivered
    }

    private let state = Guarded(State.empty)

    package init() {}

    /// Waits here. To be called once.
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

    /// Delivers, or does nothing if an outcome was there already.
    /// - Returns: Whether this outcome is the one that counts.
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
