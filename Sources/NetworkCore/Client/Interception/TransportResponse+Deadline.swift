import FoundationEssentials
import HTTPTypes

extension TransportResponse {
    /// Returns the response with reads of its body that end at the deadline of a call. A transport's own body keeps the
    /// total timeout itself; that of an interceptor need not.
    func ended(by call: NetworkClient.Call) -> TransportResponse {
        guard call.deadline != nil else { return self }
        var response = self
        response.body = body.withForeignSource { TimedBody($0, call) }
        return response
    }
}

/// A body that is read within the deadline of a call.
private final class TimedBody: TransportResponse.BodySource {
    private let source: any TransportResponse.BodySource
    private let call: NetworkClient.Call

    init(_ source: any TransportResponse.BodySource, _ call: NetworkClient.Call) {
        self.source = source
        self.call = call
    }

    func next() async throws -> Data? { try await call.withinDeadline { [source] in try await source.next() } }

    func collect(upTo limit: Int?) async throws -> Data {
        try await call.withinDeadline { [source] in try await source.collect(upTo: limit) }
    }

    var metrics: TransportMetrics { source.metrics }
    var trailers: HTTPFields? { source.trailers }
}
