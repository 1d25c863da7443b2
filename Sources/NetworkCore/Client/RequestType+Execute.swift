public import Dispatch

extension RequestType {
    /// Sends the request and calls back once, with the decoded value or with the error.
    ///
    /// A command-line tool or a service whose main queue is never drained (no `dispatchMain()`, no run loop) must pass
    /// a queue of its own, or use ``RequestType/send(over:)``: a block on such a main queue never runs. Nothing
    /// blocks, the callback just does not come.
    /// - Parameters:
    ///   - dispatcher: What carries the request.
    ///   - queue: Where the callbacks run. The main queue by default.
    ///   - onSuccess: Gets the decoded value.
    ///   - onError: Gets a ``NetworkError``, or what a dispatcher of the program's own reports.
    public func execute(
        dispatcher: any NetworkDispatcher,
        queue: DispatchQueue = .main,
        onSuccess: @escaping @Sendable (ResponseType) -> Void,
        onError: @escaping @Sendable (any Error) -> Void
    ) {
        let request = data
        Task {
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
