/// A step around the exchange. It sees the request on its way out and the response on its way back, and may change
/// either, send again, or return a response without sending.
///
/// ```swift
/// struct RequestNumber: Interceptor {
///     func intercept(_ request: TransportRequest, in call: Call, next: Next) async throws -> TransportResponse {
///         var request = request
///         request.headerFields.append(try HTTPField(checking: "X-Request-Number", value: "\(call.id)"))
///         return try await next(request)
///     }
/// }
///
/// client.interceptors.append(RequestNumber())
/// ```
///
/// The ``NetworkClient/interceptors`` run around the whole call, redirects included; the
/// ``NetworkClient/exchangeInterceptors`` run around each exchange of it. The first of a list is the outermost. A
/// relative reference of a redirect is resolved at the URL that the exchange interceptors receive.
///
/// A step is part of its call and shares the call's time. At ``NetworkClient/Call/deadline`` the step is cancelled, and
/// the call fails with ``NetworkError/Code/totalTimeout`` as soon as the step has returned. A step that ignores
/// cancellation holds up the call until it returns.
///
/// A step that calls `next` more than once must discard the earlier response and not use its body afterwards; that
/// frees the connection. If the body of the earlier request was still read when its response's head came, and the next
/// request has a stream too, the earlier exchange is cancelled. A step that reads a response's body returns a response
/// with the bytes (``TransportResponse/Body/init(_:)``), since a body can be read once. A request's body can be sent
/// again only if it is ``TransportRequest/Body/isReplayable``.
public protocol Interceptor: Sendable {
    /// Passes a request on, or returns a response without doing so.
    /// - Parameters:
    ///   - request: The request as the step before made it.
    ///   - call: The state of the call so far, the same for all its steps.
    ///   - next: The steps after this one and the transport.
    /// - Throws: ``NetworkError`` from the steps below, or an error of the step's own, which reaches the caller
    ///   unchanged.
    func intercept(
        _ request: TransportRequest, in call: NetworkClient.Call, next: NetworkClient.Next
    ) async throws -> TransportResponse
}

extension Interceptor {
    /// The call that an interceptor is part of.
    public typealias Call = NetworkClient.Call
    /// The steps after an interceptor, and the transport.
    public typealias Next = NetworkClient.Next
}

extension NetworkClient {
    /// The rest of a call's path: the steps after this one and, at the end, the transport.
    public struct Next: Sendable {
        private let steps: ArraySlice<any Interceptor>
        private let call: Call
        private let end: @Sendable (TransportRequest) async throws -> TransportResponse

        init(
            _ steps: ArraySlice<any Interceptor>,
            call: Call,
            end: @escaping @Sendable (TransportRequest) async throws -> TransportResponse
        ) {
            self.steps = steps
            self.call = call
            self.end = end
        }

        /// Passes a request on and returns its response.
        public func callAsFunction(_ request: TransportRequest) async throws -> TransportResponse {
            guard let step = steps.first else { return try await end(request) }
            return try await step.intercept(
                request, in: call, next: Next(steps.dropFirst(), call: call, end: end))
        }
    }
}

/// An interceptor that changes requests on their way out.
public struct RequestAdapter: Interceptor {
    private let change: @Sendable (inout TransportRequest) async throws -> Void

    /// Creates an adapter. An error that the closure throws ends the call and reaches the caller unchanged.
    public init(_ change: @escaping @Sendable (inout TransportRequest) async throws -> Void) { self.change = change }

    /// Changes the request and passes it on.
    public func intercept(_ request: TransportRequest, in call: Call, next: Next)
        async throws -> TransportResponse
    {
        var request = request
        try await change(&request)
        return try await next(request)
    }
}

/// An interceptor that inspects responses on their way back, and may change them. The body has not been read yet.
public struct ResponseAdapter: Interceptor {
    private let change: @Sendable (inout TransportResponse) async throws -> Void

    /// Creates an adapter. An error that the closure throws ends the call and reaches the caller unchanged.
    public init(_ change: @escaping @Sendable (inout TransportResponse) async throws -> Void) { self.change = change }

    /// Passes the request on and changes its response.
    public func intercept(_ request: TransportRequest, in call: Call, next: Next)
        async throws -> TransportResponse
    {
        var response = try await next(request)
        try await change(&response)
        return response
    }
}

extension Interceptor where Self == RequestAdapter {
    /// Changes requests on their way out: `.adapting { request in request.headerFields[.acceptLanguage] = "de" }`.
    public static func adapting(
        _ change: @escaping @Sendable (inout TransportRequest) async throws -> Void
    ) -> RequestAdapter {
        RequestAdapter(change)
    }
}

extension Interceptor where Self == ResponseAdapter {
    /// Inspects or changes responses on their way back: `.adaptingResponse { response in response.head.status = .ok }`.
    public static func adaptingResponse(
        _ change: @escaping @Sendable (inout TransportResponse) async throws -> Void
    ) -> ResponseAdapter {
        ResponseAdapter(change)
    }
}
