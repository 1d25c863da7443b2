public import FoundationEssentials
public import NetworkCore

extension Recording.Entry {
    /// Creates the record of an exchange, without its secrets: see ``redactSecrets(in:bodies:)``. The request's
    /// ``NetworkCore/TransportOptions/secretFields`` are secret too.
    /// - Parameters:
    ///   - request: The request. Of a streamed body, only the length is recorded.
    ///   - response: The head of the response.
    ///   - body: The body after decompression.
    ///   - trailers: The trailer fields. Default: `nil`.
    ///   - started: The time at which the request began. Default: now.
    ///   - metrics: The durations and the connection. Default: nothing is known.
    ///   - transport: The name of the transport. Default: `nil`.
    ///   - maximumBodyBytes: The limit on the recorded part of each body, in bytes. Default: 1 MiB.
    ///   - bodies: The bodies that are recorded. Default: those with a structure.
    public init(
        _ request: TransportRequest,
        response: HTTPResponse,
        body: Data,
        trailers: HTTPFields? = nil,
        started: Date = Date(),
        metrics: TransportMetrics = TransportMetrics(total: .zero),
        transport: String? = nil,
        maximumBodyBytes: Int = Recording.maximumBodyBytes,
        bodies: Recording.Bodies = .structured
    ) {
        self.init(
            started: started,
            request: Recording.Request(request, maximumBodyBytes: maximumBodyBytes),
            response: Recording.Response(
                response, body: Recording.Body(body, limit: maximumBodyBytes), trailers: trailers),
            metrics: metrics,
            transport: transport
        )
        redactSecrets(in: request.options.secretFields, bodies: bodies)
    }

    /// Creates the record of an exchange that failed, without its secrets.
    /// - Parameters:
    ///   - request: The request. Of a streamed body, only the length is recorded.
    ///   - failure: The error.
    ///   - started: The time at which the request began. Default: now.
    ///   - transport: The name of the transport. Default: `nil`.
    ///   - maximumBodyBytes: The limit on the recorded part of the request's body, in bytes. Default: 1 MiB.
    ///   - bodies: The bodies that are recorded. Default: those with a structure.
    public init(
        _ request: TransportRequest,
        failure: any Error,
        started: Date = Date(),
        transport: String? = nil,
        maximumBodyBytes: Int = Recording.maximumBodyBytes,
        bodies: Recording.Bodies = .structured
    ) {
        let elapsed = (failure as? NetworkError)?.exchange?.elapsed
        self.init(
            started: started,
            request: Recording.Request(request, maximumBodyBytes: maximumBodyBytes),
            failure: Recording.Failure(failure, time: elapsed),
            metrics: TransportMetrics(total: elapsed ?? .zero),
            transport: transport
        )
        redactSecrets(in: request.options.secretFields, bodies: bodies)
    }
}
