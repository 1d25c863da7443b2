public import Dispatch

extension RequestType {
    /// Sends the request over the default transport and calls one closure once.
    ///
    /// See ``NetworkCore/RequestType/execute(dispatcher:queue:onSuccess:onError:)`` for the choice of the queue.
    /// - Returns: The task, to cancel the request.
    @discardableResult
    public func execute(
        queue: DispatchQueue = .main,
        onSuccess: @escaping @Sendable (ResponseType) -> Void,
        onError: @escaping @Sendable (any Error) -> Void
    ) -> Task<Void, Never> {
        execute(dispatcher: DefaultTransport.shared, queue: queue, onSuccess: onSuccess, onError: onError)
    }

    /// Sends the request over the default transport and returns its response with the decoded value.
    /// - Throws: ``NetworkCore/NetworkError``.
    public func send() async throws -> sending NetworkResponse<ResponseType> {
        try await send(over: DefaultTransport.shared)
    }
}
