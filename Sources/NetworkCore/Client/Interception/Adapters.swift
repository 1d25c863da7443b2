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
