public import HTTPTypes

/// A value and the answer it came with.
public struct Response<Value> {
    /// The decoded value.
    public var value: Value
    /// Status and header fields.
    public var head: HTTPResponse {
        get { readableHead.head }
        set { readableHead.head = newValue }
    }
    /// What the last exchange took. For a body that is still on its way, what it took until then.
    public var metrics: TransportMetrics {
        get { readableMetrics.metrics }
        set { readableMetrics = .read(newValue) }
    }
    /// The redirects that were followed on the way, in order.
    public var redirects: [Redirect]
    /// How often the whole was tried: 1, and 1 more for each retry of the pipeline and for each time that the transport
    /// sent the last exchange's request again by itself (``TransportMetrics/repeats``).
    public var attempts: Int { tries + (readableMetrics.metrics.repeats ?? 0) }
    private let tries: Int
    private(set) var readableHead: ReadableHead
    private var readableMetrics: ReadableMetrics

    /// A value with its head and metrics; ``attempts`` adds the transport's own, which the metrics have.
    public init(
        value: Value,
        head: HTTPResponse,
        metrics: TransportMetrics,
        redirects: [Redirect] = [],
        attempts: Int = 1
    ) {
        self.init(value, ReadableHead(head), .read(metrics), redirects: redirects, attempts: attempts)
    }

    private init(
        _ value: Value, _ head: ReadableHead, _ metrics: ReadableMetrics, redirects: [Redirect], attempts: Int
    ) {
        self.value = value
        readableHead = head
        readableMetrics = metrics
        self.redirects = redirects
        tries = attempts
    }

    /// A value made of a body that has ended.
    init(_ value: Value, endOf incoming: TransportResponse, call: Call) {
        let (attempts, redirects) = call.attemptsAndRedirects
        self.init(
            value, incoming.readableHead, incoming.readableMetrics, redirects: redirects, attempts: attempts)
    }

    /// The same answer with another value.
    func replacing<Other>(_ other: Other) -> Response<Other> {
        Response<Other>(other, readableHead, readableMetrics, redirects: redirects, attempts: tries)
    }

    /// The status: 200, 201, ….
    public var status: HTTPResponse.Status { readableHead.status }
    /// The header fields, in their order, repeated ones apart.
    public var headerFields: HTTPFields { head.headerFields }
}

extension Response<ResponseBody> {
    /// A body that is still on its way.
    init(_ incoming: TransportResponse, call: Call) {
        let (attempts, redirects) = call.attemptsAndRedirects
        self.init(
            incoming.body, incoming.readableHead, .read(incoming.metrics), redirects: redirects, attempts: attempts)
    }
}

extension Response: Sendable where Value: Sendable {}
