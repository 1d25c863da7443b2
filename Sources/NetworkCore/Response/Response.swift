public import HTTPTypes

/// A value and the answer it came with.
public struct Response<Value> {
    /// The decoded value.
    public var value: Value
    /// Status and header fields.
    public var head: HTTPResponse
    /// What the last exchange took. For a body that is still on its way, what it took until then.
    public var metrics: TransportMetrics
    /// The redirects that were followed on the way, in order.
    public var redirects: [Redirect]
    /// How often the whole was tried: 1, and 1 more for each retry.
    public var attempts: Int

    /// A value with its head and metrics.
    public init(
        value: Value,
        head: HTTPResponse,
        metrics: TransportMetrics,
        redirects: [Redirect] = [],
        attempts: Int = 1
    ) {
        self.value = value
        self.head = head
        self.metrics = metrics
        self.redirects = redirects
        self.attempts = attempts
    }

    init(value: Value, head: HTTPResponse, metrics: TransportMetrics, call: Call) {
        self.init(value: value, head: head, metrics: metrics, redirects: call.redirects, attempts: call.attempts)
    }

    /// The same answer with another value.
    func replacing<Other>(_ other: Other) -> Response<Other> {
        Response<Other>(value: other, head: head, metrics: metrics, redirects: redirects, attempts: attempts)
    }

    /// The status: 200, 201, ….
    public var status: HTTPResponse.Status { head.status }
    /// The header fields, in their order, repeated ones apart.
    public var headerFields: HTTPFields { head.headerFields }
}

extension Response: Sendable where Value: Sendable {}
