public import FoundationEssentials
public import HTTPTypes

/// One response as a transport returns it: as soon as its head has arrived, while the body is still in transit.
public struct TransportResponse: Sendable, SafelyPrinted {
    /// The status and the header fields. Interim responses (1xx) are left out.
    ///
    /// If only the status is needed, ``status`` is cheaper: the curl transport parses the fields on the first access.
    public var head: HTTPResponse {
        get { readableHead.head }
        set { readableHead.head = newValue }
    }
    /// The status of the response.
    public var status: HTTPResponse.Status { readableHead.status }
    /// The body, decompressed unless ``TransportOptions/decompress`` is off.
    public var body: Body
    /// The name of the transport that carried the exchange, for logs and errors. A transport that chooses among others,
    /// such as ``NetworkRollout/CanaryTransport``, sets it; where it is `nil`, the client sets ``HTTPTransport/name``.
    public var carrier: String?
    /// Whether the transport that carried the exchange joins repeated header fields; `nil` where the client's own
    /// transport has.
    package var joinsFields: Bool?
    private(set) var readableHead: ReadableHead
    private let givenMetrics: CopyOnWrite<TransportMetrics>?

    /// Creates a response whose body provides the metrics.
    public init(head: HTTPResponse, body: Body) {
        self.init(head: ReadableHead(head), body: body, givenMetrics: nil)
    }

    /// Creates a response whose metrics are known already.
    public init(head: HTTPResponse, body: Body, metrics: TransportMetrics) {
        self.init(head: ReadableHead(head), body: body, givenMetrics: CopyOnWrite(metrics))
    }

    package init(status: HTTPResponse.Status, head: any UnreadHead, body: Body) {
        self.init(head: ReadableHead(status: status, unread: head), body: body, givenMetrics: nil)
    }

    private init(head: ReadableHead, body: Body, givenMetrics: CopyOnWrite<TransportMetrics>?) {
        readableHead = head
        self.body = body
        self.givenMetrics = givenMetrics
    }

    /// The metrics of the exchange so far; complete once the body has ended, and the request's body too: a server may
    /// respond before it has the whole request.
    public var metrics: TransportMetrics { givenMetrics?.value ?? body.metrics }

    func following(rounds count: Int, repeats: Int, of time: Duration) -> TransportResponse {
        guard count > 0 else { return self }
        let given = givenMetrics.map { CopyOnWrite($0.value.following(rounds: count, repeats: repeats, of: time)) }
        var response = TransportResponse(
            head: readableHead,
            body: given == nil ? body.following(rounds: count, repeats: repeats, of: time) : body, givenMetrics: given
        )
        (response.carrier, response.joinsFields) = (carrier, joinsFields)
        return response
    }

    /// The metrics in a form that is read later, for a body that has ended.
    var readableMetrics: ReadableMetrics {
        if givenMetrics == nil, let unread = body.unreadMetrics { return .unread(unread) }
        return .read(metrics)
    }

    /// The status, the number of header fields, and the body's description.
    public var description: String { "\(status.code), \(head.headerFields.count) header fields, a response's body" }
}

/// A head whose fields are read on access.
struct ReadableHead: Sendable, SafelyPrinted {
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

package protocol UnreadHead: AnyObject, Sendable {
    var head: HTTPResponse { get }
}

/// Metrics that are put together on access.
enum ReadableMetrics: Sendable {
    indirect case read(TransportMetrics)
    case unread(any UnreadMetrics)
    /// The metrics of an exchange in progress, which grow with its body.
    indirect case growing(TransportResponse)

    var metrics: TransportMetrics {
        switch self {
        case .read(let metrics): metrics
        case .growing(let response): response.metrics
        case .unread(let unread): unread.metrics
        }
    }
}

package protocol UnreadMetrics: AnyObject, Sendable {
    var metrics: TransportMetrics { get }
}

/// A body that can hand out the data of its exchange separately, once it has ended.
package protocol EndedBodySource: TransportResponse.BodySource, ReadingRecord {
    /// The data for the metrics; `nil` before the end, or if the metrics need more than that.
    var unreadMetrics: (any UnreadMetrics)? { get }
}

/// A decoder that makes a value from a response's body. The default of ``NetworkClient/decoder`` is JSON.
///
/// ```swift
/// client.decoder = .json { $0.keyDecodingStrategy = .convertFromSnakeCase }
/// client.decoder = .using { type, body in try PropertyListDecoder().decode(type, from: body) }
/// ```
///
/// It runs in the caller's task, so on a transport's thread only where that task prefers it as its executor, and is not
/// interrupted: the call's total timeout and cancellation are checked before and after it.
/// ``TransportOptions/maximumBodyBytes`` limits its input. Any error that it throws becomes
/// ``NetworkError/Code/decodingFailed``, or ``NetworkError/Code/noData`` if the body is empty, unless it is a
/// ``NetworkError`` already. ``Empty``, and an optional without a body, never reach the decoder.
public protocol ResponseDecoder: Sendable {
    /// The value of `Accept` for a request that has none, such as `application/json`. `nil`, the default, sends `*/*`.
    var accept: String? { get }

    /// Returns the value.
    /// - Parameters:
    ///   - type: The type to decode.
    ///   - body: The whole body, decompressed; it may be empty.
    ///   - head: The head of the response, for its Content-Type.
    func decode<Value: Decodable & SendableMetatype>(
        _ type: Value.Type,
        from body: Data,
        of head: HTTPResponse
    ) throws -> sending Value
}

extension ResponseDecoder {
    /// No preference: `nil`.
    public var accept: String? { nil }
}
