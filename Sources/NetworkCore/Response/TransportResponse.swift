public import HTTPTypes

/// One response as a transport hands it back: as soon as its head is there, the body still on its way.
public struct TransportResponse: Sendable {
    /// Status and header fields. Interim responses (1xx) are left out.
    ///
    /// Where the status is enough, ``status`` is cheaper: the curl transport reads the fields when they are asked for.
    public var head: HTTPResponse {
        get { changedHead ?? unreadHead?.head ?? HTTPResponse(status: status) }
        set {
            changedHead = newValue
            status = newValue.status
        }
    }
    /// The status alone.
    public private(set) var status: HTTPResponse.Status
    /// The body, decompressed unless that was turned off.
    public var body: ResponseBody
    private var changedHead: HTTPResponse?
    private let unreadHead: (any UnreadHead)?
    private let givenMetrics: TransportMetrics?

    /// A response whose body tells the metrics.
    public init(head: HTTPResponse, body: ResponseBody) {
        self.init(status: head.status, changedHead: head, body: body, unreadHead: nil, givenMetrics: nil)
    }

    /// A response whose metrics are known already.
    public init(head: HTTPResponse, body: ResponseBody, metrics: TransportMetrics) {
        self.init(status: head.status, changedHead: head, body: body, unreadHead: nil, givenMetrics: metrics)
    }

    /// A response whose header fields are read when somebody asks for them.
    package init(status: HTTPResponse.Status, head: any UnreadHead, body: ResponseBody) {
        self.init(status: status, changedHead: nil, body: body, unreadHead: head, givenMetrics: nil)
    }

    private init(
        status: HTTPResponse.Status, changedHead: HTTPResponse?, body: ResponseBody, unreadHead: (any UnreadHead)?,
        givenMetrics: TransportMetrics?
    ) {
        self.status = status
        self.changedHead = changedHead
        self.body = body
        self.unreadHead = unreadHead
        self.givenMetrics = givenMetrics
    }

    /// What the exchange took so far; complete once the body has ended.
    public var metrics: TransportMetrics { givenMetrics ?? body.metrics }
}

/// A head that is known to be good and is not read yet.
package protocol UnreadHead: AnyObject, Sendable {
    var head: HTTPResponse { get }
}
