extension TransportRequest {
    /// Returns the request with its body in memory if the transport can't stream it; see
    /// ``TransportCapabilities/Capability/streamedRequestBodies``.
    func collectingBody(for capabilities: TransportCapabilities, in call: NetworkClient.Call) async throws
        -> TransportRequest
    {
        guard let body, body.bytes == nil, !capabilities.supports(.streamedRequestBodies) else { return self }
        let limit = max(0, options.maximumBodyBytes)
        let bytes = try await call.withinDeadline { try await body.collect(upTo: limit) }
        var request = self
        request.body = .bytes(bytes)
        return request
    }
}
