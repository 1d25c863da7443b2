public import FoundationEssentials
public import HTTPTypes

/// A response: its body in the requested form, its head, and the history of its call.
public struct NetworkResponse<Body>: SafelyPrinted {
    /// The body: a decoded value, bytes, text, or a sequence that is still arriving. See ``ResponseForm``.
    public var body: Body
    /// The URL that the response came from: that of the last request that went to the transport, after redirects and
    /// interceptors. If an interceptor made the response and no request was sent, it is the request's own URL. `nil`
    /// from a dispatcher that carries no URLs (``NetworkDispatcher``).
    public var url: RequestURL?
    /// The status and the header fields, of which a dispatcher that only delivers bytes has none.
    public var head: HTTPResponse {
        get { readableHead.head }
        set { readableHead.head = newValue }
    }
    /// The metrics of the last exchange: so far, while the body is arriving, and in all once the body has ended.
    public var metrics: TransportMetrics {
        get { readableMetrics.metrics }
        set { readableMetrics = .read(newValue) }
    }
    /// The redirects that were followed, in order.
    public var redirects: [RedirectPolicy.Redirect]
    /// The number of attempts at the whole call: 1, and 1 more for each retry of the pipeline and for each time that
    /// the transport itself sent a request of the call again (``TransportMetrics/repeats``).
    public var attempts: Int { tries.addingClamped(readableMetrics.metrics.repeats ?? 0) }
    private let tries: Int
    private(set) var readableHead: ReadableHead
    private var readableMetrics: ReadableMetrics

    /// Creates a response, for tests and for dispatchers of your own. ``attempts`` adds the transport's own repeats,
    /// which are in the metrics.
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

    func replacing<Other>(_ other: Other) -> NetworkResponse<Other> {
        NetworkResponse<Other>(other, readableHead, readableMetrics, url, redirects: redirects, attempts: tries)
    }

    /// The status: 200, 201, …. The response of a ``NetworkDispatcher`` that only delivers bytes has none: its code is
    /// 0, and its kind is `invalid`.
    public var status: HTTPResponse.Status { readableHead.status }
    /// The header fields: in the order of arrival, with repeated ones separate, where the transport has
    /// ``TransportCapabilities/Capability/exactResponseFields``; over URLSession in alphabetical order and joined.
    public var headerFields: HTTPFields { head.headerFields }

    /// The status, the number of header fields, and the body's type.
    public var description: String {
        let status = status == 0 ? "no status" : "\(status.code)"
        return "\(status), \(headerFields.count) header fields, a body of \(Body.self)"
    }
}

extension NetworkResponse: Sendable where Body: Sendable {}

/// A decoder for JSON, whatever the Content-Type.
public struct JSONResponseDecoder: ResponseDecoder {
    /// `application/json`.
    public var accept: String? { "application/json" }
    private let decoder: JSONDecoder

    /// Creates a decoder with the strategies of Foundation's `JSONDecoder`, or others.
    /// - Parameter configure: Sets the strategies of the decoder, which is used for every response.
    public init(configure: (JSONDecoder) -> Void = { _ in }) {
        decoder = JSONDecoder()
        configure(decoder)
    }

    static let plain = JSONResponseDecoder()

    /// Returns the value.
    public func decode<Value: Decodable & SendableMetatype>(
        _ type: Value.Type,
        from body: Data,
        of head: HTTPResponse
    ) throws -> sending Value {
        try decode(type, from: body)
    }

    func decode<Value: Decodable & SendableMetatype>(_ type: Value.Type, from body: Data) throws -> sending Value {
        try decoder.decode(type, from: body)
    }
}

/// A decoder made of a closure, for any decoder that takes a `Decodable` type and bytes.
public struct ClosureResponseDecoder: ResponseDecoder {
    private let make: @Sendable (any Decodable.Type, Data) throws -> any Decodable

    /// Creates a decoder.
    /// - Parameter make: Receives the type and the body, and returns a value of that type.
    public init(_ make: @escaping @Sendable (any Decodable.Type, Data) throws -> any Decodable) { self.make = make }

    /// Returns the value.
    /// - Throws: The error of the closure, or ``NetworkError/Code/decodingFailed`` for a value of another type.
    public func decode<Value: Decodable & SendableMetatype>(
        _ type: Value.Type,
        from body: Data,
        of head: HTTPResponse
    ) throws -> sending Value {
        // The closure made the value for this call alone.
        guard let value = try make(type, body) as? Value else {
            throw NetworkError(
                .decodingFailed,
                "the decoder returned a type other than the requested \(type)",
                phase: .decoding
            )
        }
        return unshared(value)
    }
}

extension ResponseDecoder where Self == JSONResponseDecoder {
    /// JSON with the default strategies of Foundation's `JSONDecoder`.
    public static var json: JSONResponseDecoder { .plain }

    /// Returns a decoder for JSON with other strategies for dates, keys, data or numbers.
    public static func json(_ configure: (JSONDecoder) -> Void) -> JSONResponseDecoder {
        JSONResponseDecoder(configure: configure)
    }
}

extension ResponseDecoder where Self == ClosureResponseDecoder {
    /// Returns a decoder made of a closure.
    public static func using(
        _ make: @escaping @Sendable (any Decodable.Type, Data) throws -> any Decodable
    ) -> ClosureResponseDecoder {
        ClosureResponseDecoder(make)
    }
}
