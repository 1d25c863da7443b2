public import HTTPTypes

/// One response as a transport hands it back.
public struct TransportResponse: Sendable {
    /// Status and header fields. Interim responses (1xx) are left out.
    public var head: HTTPResponse
    /// The body, decompressed unless that was turned off.
    public var body: ResponseBody
    /// What the exchange took.
    public var metrics: TransportMetrics

    /// A response.
    public init(head: HTTPResponse, body: ResponseBody, metrics: TransportMetrics) {
        self.head = head
        self.body = body
        self.metrics = metrics
    }
}
