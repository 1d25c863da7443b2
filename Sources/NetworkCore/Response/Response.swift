public import HTTPTypes

/// A value and the answer it came with.
public struct Response<Value> {
    /// The decoded value.
    public var value: Value
    /// Status and header fields.
    public var head: HTTPResponse
    /// What the exchange took.
    public var metrics: TransportMetrics

    /// A value with its head and metrics.
    public init(value: Value, head: HTTPResponse, metrics: TransportMetrics) {
        self.value = value
        self.head = head
        self.metrics = metrics
    }

    /// The status: 200, 201, ….
    public var status: HTTPResponse.Status { head.status }
    /// The header fields, in their order, repeated ones apart.
    public var headerFields: HTTPFields { head.headerFields }
}

extension Response: Sendable where Value: Sendable {}
