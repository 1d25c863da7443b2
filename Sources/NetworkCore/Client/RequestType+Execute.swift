public import Dispatch

extension RequestType {
    /// Sends the request and calls back once, with the decoded value or with the error.
    ///
    /// A command-line tool or a service whose main queue is never drained (no `dispatchMain()`, no run loop) must pass
    /// a queue of its own, or use ``response(from:)``: a block on such a main queue never runs. Nothing blocks, the
    /// callback just does not come.
    /// - Parameters:
    ///   - dispatcher: Who carries it.
    ///   - queue: Where the callbacks run. The main queue by default.
    ///   - onSuccess: Gets the decoded value.
    ///   - onError: Gets a ``NetworkError``, or whatever a dispatcher of your own reports.
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
                outcome = HandedOver(.success(try await dispatcher.value(of: ResponseType.self, for: request)))
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

    /// The decoded value.
    /// - Parameter dispatcher: Who carries it.
    /// - Throws: ``NetworkError``, or whatever a dispatcher of your own reports.
    public func response(from dispatcher: any NetworkDispatcher) async throws -> sending ResponseType {
        try await dispatcher.value(of: ResponseType.self, for: data)
    }

    /// The decoded value with status, header fields and metrics.
    /// - Parameter client: The pipeline to use.
    public func detailedResponse(from client: NetworkClient) async throws -> sending Response<ResponseType> {
        try await client.response(to: data, as: ResponseType.self)
    }

    /// The decoded value with status, header fields and metrics, over a transport with default options.
    /// - Parameter transport: Who carries it.
    public func detailedResponse(from transport: any HTTPTransport) async throws -> sending Response<ResponseType> {
        try await NetworkClient(transport: transport).response(to: data, as: ResponseType.self)
    }
}

extension NetworkDispatcher {
    /// The decoded value. A pipeline decodes it by its own rules; a dispatcher that knows only bytes, as JSON.
    func value<Value: Decodable & SendableMetatype>(
        of type: Value.Type,
        for request: RequestData
    ) async throws -> sending Value {
        if let client = self as? NetworkClient { return try await client.response(to: request, as: type).value }
        // A dispatcher of the program's own may not look at it.
        if let refusal = request.refusal { throw refusal }
        return try ResponseDecoding.decode(type, from: try await data(for: request))
    }
}
