public import Dispatch

extension RequestType {
    /// Sends the request and calls one closure once, with the decoded value or with the error.
    ///
    /// A command-line tool or a service whose main queue is never drained (no `dispatchMain()`, no run loop) must pass
    /// a queue of its own, or use ``RequestType/send(over:)``. A block on such a main queue never runs: nothing hangs,
    /// but neither closure is called.
    /// - Parameters:
    ///   - dispatcher: The dispatcher that carries the request.
    ///   - queue: The queue that the closures run on. Default: the main queue.
    ///   - onSuccess: Receives the decoded value.
    ///   - onError: Receives a ``NetworkError``, or the error of a dispatcher of your own; `CancellationError` if the
    ///     returned task is cancelled.
    /// - Returns: The task, to cancel the request.
    @discardableResult
    public func execute(
        dispatcher: any NetworkDispatcher,
        queue: DispatchQueue = .main,
        onSuccess: @escaping @Sendable (ResponseType) -> Void,
        onError: @escaping @Sendable (any Error) -> Void
    ) -> Task<Void, Never> {
        let request = data
        return Task {
            let outcome: HandedOver<Result<ResponseType, any Error>>
            do {
                outcome = HandedOver(.success(try await dispatcher.send(request, as: .decoded(ResponseType.self)).body))
            } catch {
                outcome = HandedOver(.failure(error))
            }
            queue.async {
                switch outcome.value {
                case .success(let value): onSuccess(value)
                case .failure(let error): onError(error)
                }
            }
        }
    }
}
