import FoundationEssentials

extension TransportRequest {
    /// Returns the request with its body in memory if the transport can't stream it; see
    /// ``TransportCapabilities/Capability/streamedRequestBodies``.
    /// The reading has the request's timeouts, as the sending would have.
    func collectingBody(for capabilities: TransportCapabilities) async throws -> TransportRequest {
        guard let body, body.bytes == nil, !capabilities.supports(.streamedRequestBodies) else { return self }
        try checkBodyLength()
        // A stream that can be read once is not read for a request that can't be sent.
        var described = self
        described.body = .bytes(Data(count: min(1, body.length ?? 1)))
        try described.check(for: capabilities)
        let collector = BodyCollector(body, limit: max(0, options.maximumBodyBytes))
        var request = self
        try await request.readAhead(body, named: "the body, which \(capabilities.transport) can't stream,") {
            try collector.append($0)
        }
        request.body = .bytes(try collector.finish())
        return request
    }
}
