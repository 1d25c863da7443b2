public import FoundationEssentials
import HTTPTypes
import Synchronization

/// A type that carries requests. One method is enough to write one:
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
/// let rows = try await GetAllSampleData().send(over: CannedDispatcher()).body
/// ```
///
/// What such a dispatcher delivers has no status and no header fields. A type that speaks HTTP should conform to
/// ``HTTPTransport``, and to this protocol without code of its own: its requests then go through a ``NetworkClient``
/// with default options.
public protocol NetworkDispatcher: Sendable {
    /// Carries one request and calls exactly one of the closures, once, on any thread.
    ///
    /// If an implementation calls them more often, only the first call counts.
    func dispatch(
        request: RequestData,
        onSuccess: @escaping @Sendable (Data) -> Void,
        onError: @escaping @Sendable (any Error) -> Void
    )

    /// Sends a request and returns its response in a form.
    ///
    /// ``NetworkClient`` and each ``HTTPTransport`` have their own implementation. The default is for a dispatcher that
    /// only delivers bytes: it waits for ``dispatch(request:onSuccess:onError:)``, and the response has these bytes, no
    /// header fields, and the status 0 in place of one (``NetworkResponse/status``). Cancelling the task ends the wait
    /// at once; a later outcome is discarded.
    /// - Throws: ``NetworkError``, or the error of the dispatcher. `CancellationError` in a cancelled task.
    func send<Body>(
        _ request: some RequestConvertible, as form: ResponseForm<Body>
    ) async throws -> sending NetworkResponse<Body>
}

extension NetworkDispatcher {
    /// Sends a request with ``dispatch(request:onSuccess:onError:)``, and returns its bytes in a form. The status is 0:
    /// there is none.
    public func send<Body>(
        _ request: some RequestConvertible, as form: ResponseForm<Body>
    ) async throws -> sending NetworkResponse<Body> {
        let data = request.data
        // A dispatcher of your own may not check it.
        if let refusal = data.refusal { throw refusal }
        // The dispatcher receives the description itself, whose path need not be a URL.
        let described = try? data.transportRequest()
        var client = NetworkClient(transport: BytesTransport(dispatcher: self, request: data))
        // There is no status to check: a dispatcher reports a failure itself.
        client.validation = .any
        // The bytes are in memory already: no limit protects from them.
        var request = described ?? TransportRequest(method: data.method, url: .placeholder)
        request.options.maximumBodyBytes = .max
        if described != nil { return try await client.send(request, as: form) }
        do {
            var response = try await client.send(request, as: form)
            response.url = nil
            return response
        } catch var error as NetworkError {
            // Nothing was sent to the placeholder.
            error.exchange = nil
            throw error
        }
    }

    /// Sends a typed request and returns its response with the decoded value.
    public func send<Request: RequestType>(
        _ request: Request
    ) async throws -> sending NetworkResponse<Request.ResponseType> {
        try await send(request.data, as: .decoded(Request.ResponseType.self))
    }

    /// It is the nearest match for a description without a type, where the compiler would speak of `RequestType`.
    @available(*, unavailable, message: "say what the body becomes: 'as: User.self', or 'as: .data', '.text', …")
    public func send(_ request: some RequestConvertible) async throws -> sending NetworkResponse<Data> {
        try await send(request, as: .data)
    }

    /// It is the nearest match for a URL, where the compiler would speak of `TransportRequest`.
    @available(*, unavailable, message: "write the URL as 'RequestData(url: …)', and a path as 'RequestData(path: …)'")
    public func send<Body>(_ url: String, as form: ResponseForm<Body>) async throws -> sending NetworkResponse<Body> {
        try await send(RequestData(url: url), as: form)
    }

    /// It is the nearest match for a URL without a form.
    @available(
        *, unavailable, message: "write 'RequestData(url: …)', and what the body becomes: 'as: .data', '.text', …"
    )
    public func send(_ url: String) async throws -> sending NetworkResponse<Data> {
        try await send(RequestData(url: url), as: .data)
    }

    /// Sends a request and returns its response with a decoded value; short for the form
    /// ``ResponseForm/decoded(_:by:)``.
    public func send<Value: Decodable & SendableMetatype>(
        _ request: some RequestConvertible, as type: Value.Type
    ) async throws -> sending NetworkResponse<Value> {
        try await send(request, as: .decoded(type))
    }
}

extension NetworkDispatcher where Self: HTTPTransport {
    /// Sends a request through a ``NetworkClient`` with default options over this transport.
    public func dispatch(
        request: RequestData,
        onSuccess: @escaping @Sendable (Data) -> Void,
        onError: @escaping @Sendable (any Error) -> Void
    ) {
        NetworkClient(transport: self).dispatch(request: request, onSuccess: onSuccess, onError: onError)
    }

    /// Sends a request through a ``NetworkClient`` with default options over this transport.
    public func send<Body>(
        _ request: some RequestConvertible, as form: ResponseForm<Body>
    ) async throws -> sending NetworkResponse<Body> {
        try await NetworkClient(transport: self).send(request, as: form)
    }

    /// Sends a complete request through a ``NetworkClient`` with default options over this transport.
    public func send<Body>(
        _ request: TransportRequest, as form: ResponseForm<Body>
    ) async throws -> sending NetworkResponse<Body> {
        try await NetworkClient(transport: self).send(request, as: form)
    }
}

/// A dispatcher that only delivers bytes, as a transport for one request.
private struct BytesTransport: HTTPTransport {
    let dispatcher: any NetworkDispatcher
    let request: RequestData

    var name: String { "\(type(of: dispatcher))" }
    var capabilities: TransportCapabilities {
        TransportCapabilities(
            transport: name, basis: "a dispatcher that only delivers bytes",
            supported: Set(TransportCapabilities.Capability.wellKnown))
    }

    func send(_: TransportRequest) async throws -> TransportResponse {
        let outcome = FirstOutcome<Data>()
        dispatcher.dispatch(
            request: request,
            onSuccess: { outcome.finish(.success($0)) },
            onError: { outcome.finish(.failure($0)) }
        )
        let bytes = try await outcome.value(orWhenCancelled: NetworkError.cancelled)
        return TransportResponse(head: HTTPResponse(status: 0), body: TransportResponse.Body(bytes))
    }
}
