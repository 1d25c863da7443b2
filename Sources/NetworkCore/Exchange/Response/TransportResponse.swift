public import HTTPTypes

/// One response as a transport hands it back: as soon as its head is there, the body still on its way.
public struct TransportResponse: Sendable {
    /// Status and header fields. Interim responses (1xx) are left out.
    ///
    /// Where the status is enough, ``status`` is cheaper: the curl transport reads the fields when they are asked for.
    public var head: HTTPResponse {
        get { readableHead.head }
        set { readableHead.head = newValue }
    }
    /// The status alone.
    public var status: HTTPResponse.Status { readableHead.status }
    /// The body, decompressed unless that was turned off.
    public var body: Body
    private(set) var readableHead: ReadableHead
    private let givenMetrics: CopyOnWrite<TransportMetrics>?

    /// A response whose body tells the metrics.
    public init(head: HTTPResponse, body: Body) {
        self.init(head: ReadableHead(head), body: body, givenMetrics: nil)
    }

    /// A response whose metrics are known already.
    public init(head: HTTPResponse, body: Body, metrics: TransportMetrics) {
        self.init(head: ReadableHead(head), body: body, givenMetrics: CopyOnWrite(metrics))
    }

    /// A response whose header fields are read when somebody asks for them.
    package init(status: HTTPResponse.Status, head: any UnreadHead, body: Body) {
        self.init(head: ReadableHead(status: status, unread: head), body: body, givenMetrics: nil)
    }

    private init(head: ReadableHead, body: Body, givenMetrics: CopyOnWrite<TransportMetrics>?) {
        readableHead = head
        self.body = body
        self.givenMetrics = givenMetrics
    }

    /// What the exchange took so far; complete once the body has ended.
    public var metrics: TransportMetrics { givenMetrics?.value ?? body.metrics }

    /// The same, to be read later, of a body that has ended.
    var readableMetrics: ReadableMetrics {
        if givenMetrics == nil, let unread = body.unreadMetrics { return .unread(unread) }
        return .read(metrics)
    }
}

/// A head, read when its fields are asked for.
struct ReadableHead: Sendable {
    private(set) var status: HTTPResponse.Status
    private var read: CopyOnWrite<HTTPResponse>?
    private let unread: (any UnreadHead)?

    init(_ head: HTTPResponse) {
        status = head.status
        read = CopyOnWrite(head)
        unread = nil
    }

    init(status: HTTPResponse.Status, unread: any UnreadHead) {
        self.status = status
        self.unread = unread
    }

    var head: HTTPResponse {
        get { read?.value ?? unread?.head ?? HTTPResponse(status: status) }
        set {
            read = CopyOnWrite(newValue)
            status = newValue.status
        }
    }
}

/// A head that is known to be good and is not read yet.
package protocol UnreadHead: AnyObject, Sendable {
    var head: HTTPResponse { get }
}

/// Metrics, put together when somebody asks for them.
enum ReadableMetrics: Sendable {
    indirect case read(TransportMetrics)
    case unread(any UnreadMetrics)
    /// Those of an exchange that is under way, which grow with its body.
    indirect case growing(TransportResponse)

    var metrics: TransportMetrics {
        switch self {
        case .read(let metrics): metrics
        case .growing(let response): response.metrics
        case .unread(let unread): unread.metrics
        }
    }
}

/// What is known of an exchange that has ended.
package protocol UnreadMetrics: AnyObject, Sendable {
    var metrics: TransportMetrics { get }
}

/// A body whose exchange can be told apart from it, once it has ended.
package protocol EndedBodySource: TransportResponse.BodySource {
    /// What the metrics are made from; `nil` before the end, or where that is not all.
    var unreadMetrics: (any UnreadMetrics)? { get }
}
