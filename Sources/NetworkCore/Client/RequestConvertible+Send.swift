public import Dispatch
public import FoundationEssentials

extension RequestConvertible {
    /// Sends the request and returns its response in a form.
    ///
    /// ```swift
    /// let page = try await MovieFeed.topRated.send(as: .text, over: client).body
    /// ```
    /// - Parameters:
    ///   - form: What the body becomes: `.data`, `.text`, `.stream`, `.lines`, `.events`, `.file("…")`, …
    ///   - dispatcher: The dispatcher that carries the request: a client, a transport, or one of your own.
    /// - Throws: ``NetworkError``, or the error of a dispatcher of your own.
    public func send<Body>(
        as form: ResponseForm<Body>, over dispatcher: any NetworkDispatcher
    ) async throws -> sending NetworkResponse<Body> {
        try await dispatcher.send(data, as: form)
    }

    /// Sends the request and returns its response with a decoded value.
    /// - Parameters:
    ///   - type: The type to decode, with the client's decoder or else as JSON.
    ///   - dispatcher: The dispatcher that carries the request.
    /// - Throws: ``NetworkError``, or the error of a dispatcher of your own.
    public func send<Value: Decodable & SendableMetatype>(
        as type: Value.Type, over dispatcher: any NetworkDispatcher
    ) async throws -> sending NetworkResponse<Value> {
        try await dispatcher.send(data, as: .decoded(type))
    }

    /// It is the nearest match where nothing names the type of the response.
    @available(*, unavailable, message: "say what the body becomes: 'as: User.self', or 'as: .data', '.text', …")
    public func send(over dispatcher: any NetworkDispatcher) async throws -> sending NetworkResponse<Data> {
        try await dispatcher.send(data, as: .data)
    }
}

extension RequestType {
    /// Sends the request and returns its response with the decoded value.
    ///
    /// ```swift
    /// let users = try await GetUsers().send(over: client).body
    /// ```
    /// - Parameter dispatcher: The dispatcher that carries the request: a client, a transport, or one of your own.
    /// - Throws: ``NetworkError``, or the error of a dispatcher of your own.
    public func send(over dispatcher: any NetworkDispatcher) async throws -> sending NetworkResponse<ResponseType> {
        try await dispatcher.send(data, as: .decoded(ResponseType.self))
    }

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
