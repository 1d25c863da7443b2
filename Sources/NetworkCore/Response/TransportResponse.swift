public import HTTPTypes

/// One response as a transport hands it back: as soon as its head is there, the body still on its way.
public struct TransportResponse: Sendable {
    /// Status and header fields. Interim responses (1xx) are left out.
    public var head: HTTPResponse
    /// The body, decompressed unless that was turned off.
    public var body: ResponseBody
    private let givenMetrics: TransportMetrics?

    /// A response whose body tells the metrics.
    public init(head: HTTPResponse, body: ResponseBody) {
        self.head = head
        self.body = body
        givenMetrics = nil
    }

    /// A response whose metrics are known already.
    public init(head: HTTPResponse, body: ResponseBody, metrics: TransportMetrics) {
        self.head = head
        self.body = body
        givenMetrics = metrics
    }

    /// What the exchange took so far; complete once the body has ended.
    public var metrics: TransportMetrics { givenMetrics ?? body.metrics }
}
