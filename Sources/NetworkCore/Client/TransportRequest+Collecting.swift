extension TransportRequest {
    /// Returns the request with its body in memory if the transport can't stream it; see
    /// ``TransportCapabilities/Capability/streamedRequestBodies``.
    /// The reading has the request's timeouts, as the sending would have.
    func collectingBody(for capabilities: TransportCapabilities) async throws -> TransportRequest {
        guard let body, body.bytes == nil, !capabilities.supports(.streamedRequestBodies) else { return self }
        let collector = BodyCollector(body, limit: max(0, options.maximumBodyBytes))
        var request = self
        try await request.readAhead(body, named: "the body, which \(capabilities.transport) can't stream,") {
            try collector.append($0)
        }
        request.body = .bytes(try collector.finish())
        return request
    }
}
