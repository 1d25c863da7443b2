public import HTTPTypes

/// A response: its body in the form that was asked for, its head, and how it came.
public struct NetworkResponse<Body> {
    /// The body: a decoded value, bytes, text, or a sequence that is still on its way. See ``ResponseForm``.
    public var body: Body
    /// Where the response came from: the URL of the last request that went to the transport, after redirects and
    /// interceptors; the request's own where an interceptor answered and none went. `nil` from a dispatcher that
    /// carries no URLs (``NetworkDispatcher``).
    public var url: RequestURL?
    /// Status and header fields.
    public var head: HTTPResponse {
        get { readableHead.head }
        set { readableHead.head = newValue }
    }
    /// What the last exchange took: so far, while the body is on its way, and in all once the body has ended.
    public var metrics: TransportMetrics {
        get { readableMetrics.metrics }
        set { readableMetrics = .read(newValue) }
    }
    /// The redirects that were followed on the way, in order.
    public var redirects: [RedirectPolicy.Redirect]
    /// How often the whole was tried: 1, and 1 more for each retry of the pipeline and for each time that the transport
    /// sent the last exchange's request again by itself (``TransportMetrics/repeats``).
    public var attempts: Int { tries + (readableMetrics.metrics.repeats ?? 0) }
    private let tries: Int
    private(set) var readableHead: ReadableHead
    private var readableMetrics: ReadableMetrics

    /// A response for tests and dispatchers of a program's own; ``attempts`` adds the transport's own, which the
    /// metrics have.
    public init(
        body: Body,
        head: HTTPResponse,
        metrics: TransportMetrics = TransportMetrics(total: .zero),
        url: RequestURL? = nil,
        redirects: [RedirectPolicy.Redirect] = [],
        attempts: Int = 1
    ) {
        self.init(body, ReadableHead(head), .read(metrics), url, redirects: redirects, attempts: attempts)
    }

    init(
        _ body: Body, _ head: ReadableHead, _ metrics: ReadableMetrics, _ url: RequestURL?,
        redirects: [RedirectPolicy.Redirect],
        attempts: Int
    ) {
        self.body = body
        self.url = url
        readableHead = head
        readableMetrics = metrics
        self.redirects = redirects
        tries = attempts
    }

    /// The same response with another body.
    func replacing<Other>(_ other: Other) -> NetworkResponse<Other> {
        NetworkResponse<Other>(other, readableHead, readableMetrics, url, redirects: redirects, attempts: tries)
    }

    /// The status: 200, 201, ….
    public var status: HTTPResponse.Status { readableHead.status }
    /// The header fields, in their order, repeated ones apart.
    public var headerFields: HTTPFields { head.headerFields }
}

extension NetworkResponse: Sendable where Body: Sendable {}
