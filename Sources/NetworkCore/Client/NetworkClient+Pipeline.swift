import Logging

extension NetworkClient {
    /// The way of a call: the interceptors in their order, then the transport, once or more often.
    func carry(_ request: TransportRequest, in call: Call) async throws -> TransportResponse {
        let steps = interceptors + exchangeInterceptors
        return try await Next(steps[...], call: call) { request in try await exchange(request, in: call) }(request)
    }

    /// One exchange, within what is left of the call's time.
    private func exchange(_ request: TransportRequest, in call: Call) async throws -> TransportResponse {
        var request = request
        call.beginExchange()
        if let remaining = call.remaining {
            guard remaining > .zero else {
                throw NetworkError.totalTimeout.during(request, transport: transport.name, elapsed: call.elapsed)
            }
            request.options.totalTimeout = remaining
        }
        do {
            let response = try await transport.send(request)
            logger?.debug(
                "\(request.method.rawValue) \(request.url) over \(transport.name): \(response.head.status.code)",
                metadata: ["elapsed": "\(response.metrics.total.shortText)"]
            )
            return response
        } catch {
            logger?.debug("\(request.method.rawValue) \(request.url) failed: \(error)")
            throw error
        }
    }
}
