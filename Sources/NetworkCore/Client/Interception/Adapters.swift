/// Changes requests on their way out.
public struct RequestAdapter: Interceptor {
    private let change: @Sendable (inout TransportRequest) async throws -> Void

    /// An adapter; what it throws ends the call and reaches the caller as it is.
    public init(_ change: @escaping @Sendable (inout TransportRequest) async throws -> Void) { self.change = change }

    /// Changes the request and sends it on.
    public func intercept(_ request: TransportRequest, in call: Call, next: Next)
        async throws -> TransportResponse
    {
        var request = request
        try await change(&request)
        return try await next(request)
    }
}

/// Looks at responses on their way back, and may change them. The body is still to come.
public struct ResponseAdapter: Interceptor {
    private let change: @Sendable (inout TransportResponse) async throws -> Void

    /// An adapter; what it throws ends the call and reaches the caller as it is.
    public init(_ change: @escaping @Sendable (inout TransportResponse) async throws -> Void) { self.change = change }

    /// Sends the request on and changes its response.
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
    /// Looks at responses on their way back: `.adaptingResponse { response in response.head.status = .ok }`.
    public static func adaptingResponse(
        _ change: @escaping @Sendable (inout TransportResponse) async throws -> Void
    ) -> ResponseAdapter {
        ResponseAdapter(change)
    }
}
