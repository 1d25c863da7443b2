/// A step around the exchange: it sees the request on its way out and the response on its way back, and may change
/// either, send again, or answer without sending.
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
/// ``NetworkClient/interceptors`` stand around the whole call, redirects included;
/// ``NetworkClient/exchangeInterceptors`` around each exchange of it. The first of a list is the outermost.
///
/// A step is a part of its call, and has the call's time: at ``NetworkClient/Call/deadline`` it is cancelled and waited
/// for, whatever it does, and the call fails with ``NetworkError/Code/totalTimeout``. One that does not heed
/// cancellation holds the call up until it returns.
///
/// A step that calls `next` more than once must not use the body of an earlier response afterwards, and drops it: the
/// connection is freed then. A request's body can be sent again only if it is ``TransportRequest/Body/isReplayable``.
public protocol Interceptor: Sendable {
    /// Carries a request on, or answers it.
    /// - Parameters:
    ///   - request: As the step before made it.
    ///   - call: What is known of the call so far, the same for all its steps.
    ///   - next: The rest of the way.
    /// - Throws: ``NetworkError`` from below, or an error of the step's own, which reaches the caller as it is.
    func intercept(
        _ request: TransportRequest, in call: NetworkClient.Call, next: NetworkClient.Next
    ) async throws -> TransportResponse
}

extension Interceptor {
    /// The call that an interceptor is a part of, under a short name.
    public typealias Call = NetworkClient.Call
    /// The rest of a call's way, under a short name.
    public typealias Next = NetworkClient.Next
}

extension NetworkClient {
    /// The rest of a call's way: the steps after this one and, at the end, the transport.
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

        /// Goes on with a request.
        public func callAsFunction(_ request: TransportRequest) async throws -> TransportResponse {
            guard let step = steps.first else { return try await end(request) }
            return try await step.intercept(
                request, in: call, next: Next(steps.dropFirst(), call: call, end: end))
        }
    }
}
