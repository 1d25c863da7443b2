public import Dispatch

extension RequestType {
    /// Sends the request over the default transport and calls back once.
    ///
    /// See ``NetworkCore/RequestType/execute(dispatcher:queue:onSuccess:onError:)`` for the choice of the queue.
    public func execute(
        queue: DispatchQueue = .main,
        onSuccess: @escaping @Sendable (ResponseType) -> Void,
        onError: @escaping @Sendable (any Error) -> Void
    ) {
        execute(dispatcher: DefaultTransport.instance, queue: queue, onSuccess: onSuccess, onError: onError)
    }

    /// The decoded value, over the default transport.
    public func response() async throws -> sending ResponseType {
        try await response(from: DefaultTransport.instance)
    }

    /// The decoded value with status, header fields and metrics, over the default transport.
    public func detailedResponse() async throws -> sending Response<ResponseType> {
        try await detailedResponse(from: NetworkClient.standard)
    }
}
