import FoundationEssentials
import Synchronization

extension TransportRequest {
    /// Returns the request with an empty body in place of a stream of length 0, which is read to its end.
    package func withoutEmptyStream(
        checkedFor capabilities: TransportCapabilities? = nil
    ) async throws -> TransportRequest {
        guard let body, hasEmptyStream else { return self }
        if let capabilities { try check(for: capabilities) }
        var request = self
        try await request.readAhead(body, named: "the empty body") { _ in
            throw NetworkError.bodyLengthMismatch(expected: 0, got: "more")
        }
        request.body = .bytes(Data())
        return request
    }

    package var hasEmptyStream: Bool {
        guard let body, case .produced(let producer) = body.content else { return false }
        return producer.length == 0
    }

    /// Reads a body before anything is sent. What it takes of the total timeout is not there for the exchange.
    mutating func readAhead(
        _ body: Body, named name: String, _ receive: @escaping @Sendable (Data) throws -> Void
    ) async throws {
        let begin = ContinuousClock.now
        let total = options.totalTimeout.map { min($0, TransportOptions.maximumTimeout) }
        let idle = options.idleTimeout.map { min($0, TransportOptions.maximumTimeout) }
        let last = Movement()
        try await FirstOutcome<Void>.racing(orWhenCancelled: NetworkError.cancelled) {
            try await body.read { chunk in
                try Task.checkCancellation()
                last.time.withLock { $0 = .now }
                try receive(chunk)
            }
        } against: {
            while true {
                let ends = [total.map { begin + $0 }, idle.map { last.time.withLock(\.self) + $0 }].compactMap(\.self)
                let next = ends.min() ?? begin + TransportOptions.maximumTimeout
                if next > .now {
                    await SharedTimer.shared.wait(until: next)
                    try Task.checkCancellation()
                } else if let total, begin + total <= .now {
                    throw NetworkError.refused(.totalTimeout, "\(name) did not end in time (totalTimeout)")
                } else {
                    throw NetworkError.refused(.idleTimeout, "\(name) did not move in time (idleTimeout)")
                }
            }
        }
        if let total { options.totalTimeout = max(total - (ContinuousClock.now - begin), .nanoseconds(1)) }
    }

    /// Returns the request with its body in memory if the transport can't stream it; see
    /// ``TransportCapabilities/Capability/streamedRequestBodies``.
    func collectingBody(for capabilities: TransportCapabilities) async throws -> TransportRequest {
        guard let body, body.bytes == nil, !capabilities.supports(.streamedRequestBodies) else { return self }
        try checkBodyLength()
        // In memory a body has no trailers.
        if body.hasTrailers, !capabilities.supports(.requestTrailers) {
            throw capabilities.refusal(of: .requestTrailers)
        }
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

private final class Movement: Sendable {
    let time = Guarded(ContinuousClock.now)
}
