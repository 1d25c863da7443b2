import FoundationEssentials
import HTTPTypes
import NetworkCore

/// The method and the body (CURLOPT_HTTPGET, NOBODY, POST, CUSTOMREQUEST, POSTFIELDSIZE_LARGE).
struct MethodAndBodyOption: EasyOption {
    let method: HTTPRequest.Method
    let body: OutgoingBody

    func apply(to easy: EasyHandle) throws {
        switch (method, body) {
        case (.get, .none): try easy.set(.httpGet, 1)
        case (.head, _): try easy.set(.noBody, 1)
        default:
            // For libcurl, POST means 'a request with a body of this length, 0 included'.
            try easy.set(.post, 1)
            if method != .post { try easy.set(.customRequest, method.rawValue) }
            try body.attach(to: easy)
        }
    }
}

/// A request's body on its way to libcurl.
enum OutgoingBody {
    case none
    case bytes(Data)
    /// A body that a task produces while it is sent.
    case streamed(UploadChannel)

    /// The largest body that libcurl copies at once and sends together with the head (CURLOPT_COPYPOSTFIELDS), in
    /// bytes. It fetches a larger one chunk by chunk (CURLOPT_READFUNCTION).
    static let maximumCopied = 16_384

    init(_ body: TransportRequest.Body?) {
        self =
            switch body?.content {
            case nil: .none
            case .bytes(let bytes): .bytes(bytes)
            case .produced(let producer): .streamed(UploadChannel(producer))
            }
    }

    /// How libcurl gets the body.
    enum Kind { case none, copied, read, streamed }

    var kind: Kind {
        switch self {
        case .none: .none
        case .bytes(let bytes): bytes.count <= Self.maximumCopied ? .copied : .read
        case .streamed: .streamed
        }
    }

    func attach(to easy: EasyHandle) throws {
        switch self {
        case .none: try easy.setCopiedBody(Data())
        case .bytes(let bytes) where kind == .copied: try easy.setCopiedBody(bytes)
        case .bytes(let bytes): try easy.setReadBody(RequestBodyReader(.bytes(bytes)), count: bytes.count)
        // -1 means 'unknown': chunked over HTTP/1.1, frames over HTTP/2.
        case .streamed(let upload):
            try easy.setReadBody(RequestBodyReader(.upload(upload)), count: upload.length ?? -1)
        }
    }
}

/// The header fields (CURLOPT_HTTPHEADER). The first `Accept: */*` is left to libcurl, which writes the same text in
/// the same place: each field in the list slows down libcurl's search for the fields that it knows.
struct HeaderFieldsOption: EasyOption {
    let request: TransportRequest
    let hasBody: Bool
    /// Whether to send the URL's host in `Host`, although the request goes to another name.
    var namesHost = false

    func apply(to easy: EasyHandle) throws {
        var lines = TextList()
        if namesHost { lines.append("Host: ", request.url.authority) }
        let fields = request.headerFields
        var leavesAccept =
            !namesHost && (fields.first == .acceptAnything || fields.isEmpty)
            && fields.count(where: { $0.name == .accept }) <= 1
        request.forEachWireField { field in
            if leavesAccept {
                leavesAccept = false
            } else if field.value.isEmpty {
                // `Name:` would remove a field, and a blank value vanishes; `Name;` sends the field with an empty
                // value.
                lines.append(field.name.rawName, ";")
            } else {
                lines.append(field.name.rawName, ": ", field.value)
            }
        }
        if hasBody {
            // Removes what libcurl adds: its form type, and the wait of up to a second for '100 Continue'.
            if !fields.contains(.contentType) { lines.append("Content-Type:") }
            if !request.expectsContinue { lines.append("Expect:") }
        }
        try easy.set(.headerLines, lines)
    }
}

/// The protocol version of a ``ConnectionKey`` (CURLOPT_HTTP_VERSION, CURLOPT_PIPEWAIT).
struct HTTPVersionOption: EasyOption {
    let version: TransportOptions.HTTPVersion

    func apply(to easy: EasyHandle) throws {
        switch version {
        case .http1_0: try easy.set(.httpVersion, OptionValue.http1_0)
        case .http1_1, .automatic: try easy.set(.httpVersion, OptionValue.http1_1)
        case .http2, .http2PriorKnowledge, .http3, .http3Only:
            try easy.set(.httpVersion, value)
            // A burst waits until the first connection shows whether it multiplexes, instead of opening one each.
            try easy.set(.pipeWait, 1)
        }
    }

    /// The number of a version whose connections have several streams.
    private var value: Int {
        switch version {
        case .http3: OptionValue.http3
        case .http3Only: OptionValue.http3Only
        case .http2PriorKnowledge: OptionValue.http2PriorKnowledge
        default: OptionValue.http2OverTLS
        }
    }

    /// Refuses HTTP/3 alone where it is not possible, and options with which the request's connection would have the
    /// streams of others, or stop them.
    static func check(_ request: TransportRequest, support: LibcurlSupport) throws {
        let options = request.options
        if options.httpVersion == .http3Only, let obstacle = request.obstacleToQUIC {
            throw NetworkError(
                .unsupported, "HTTP/3 alone (httpVersion) is not possible \(obstacle)", phase: .preparing)
        }
        guard options.hasRareOptions else { return }
        let hasStreams =
            [.http2PriorKnowledge, .http3Only].contains(options.httpVersion)
            || options.httpVersion == .http3 && request.url.scheme == "https"
        if hasStreams, options.connection.forbidsReuse { throw NetworkError.sharesStreams }
        if options.httpVersion == .http2PriorKnowledge, options.rate.maximumReceivedPerSecond != nil,
            support.suffers(from: .http2ReceivingLimitFails)
        {
            throw NetworkError.rateStopsOthers
        }
    }
}

extension TransportRequest {
    /// Returns the request over HTTP/1.1 if trailer fields follow its body: libcurl has no others, and would leave them
    /// out over HTTP/2 and 3.
    func overVersionForTrailers() throws -> TransportRequest {
        guard body?.hasTrailers == true, options.httpVersion != .http1_1 else { return self }
        guard options.httpVersion == .automatic else { throw NetworkError.trailersNeedHTTP1 }
        var request = self
        request.options.httpVersion = .http1_1
        return request
    }

    /// Why the request can't go over QUIC; `nil` if it can.
    fileprivate var obstacleToQUIC: String? {
        if url.scheme != "https" { return "without TLS: it needs an https URL" }
        if ProxyOption.mayTunnel(options) { return "where a proxy may be used (proxy)" }
        if options.connection.unixSocket != nil { return "over a Unix socket (connection.unixSocket)" }
        return options.takesTLS1_3 ? nil : "below TLS 1.3 (tls.maximumVersion)"
    }
}

extension TransportOptions {
    fileprivate var takesTLS1_3: Bool { tls.maximumVersion == nil || tls.maximumVersion == .tls1_3 }

    /// Whether requests without a version of their own may become ones of HTTP/3.
    /// - Parameter support: The libcurl found.
    func mayUpgradeToHTTP3(over support: LibcurlSupport) -> Bool {
        guard httpVersion == .automatic, support.upgradesToHTTP3, !ProxyOption.mayTunnel(self) else { return false }
        return connection.unixSocket == nil && takesTLS1_3
            && resolvedVersion(isSecure: true, support: support) == .http2
    }
}

extension NetworkError {
    fileprivate static var trailersNeedHTTP1: NetworkError {
        NetworkError(
            .unsupported, "libcurl sends the trailer fields of a request over HTTP/1.1 alone (httpVersion)",
            phase: .preparing)
    }

    fileprivate static var sharesStreams: NetworkError {
        NetworkError(
            .unsupported,
            "a connection of one request (connection.forbidsReuse) can't be one of HTTP/2 by prior knowledge or of "
                + "HTTP/3, whose other streams would be those of others", phase: .preparing)
    }

    fileprivate static var rateStopsOthers: NetworkError {
        NetworkError(
            .unsupported,
            "rate.maximumReceivedPerSecond with HTTP/2 by prior knowledge needs libcurl 8.2: older ones stop the other "
                + "requests of the connection", phase: .preparing)
    }
}

/// libcurl's own connect timeout (CURLOPT_CONNECTTIMEOUT_MS), by which it also divides the time among several
/// addresses. The loop's own clock keeps the timeout.
struct ConnectTimeoutOption: EasyOption {
    let timeout: Duration?
    /// Whether nothing else would end what may go on without end: a lookup over HTTPS, whose connections may outlast
    /// their request (below 8.9), and a proxy's responses to CONNECT.
    let needsEnd: Bool

    // libcurl takes no more than 32 bits.
    private static let none = Int(Int32.max)

    /// libcurl's timeout in milliseconds; `nil` for its default.
    var milliseconds: Int? {
        guard let timeout else { return needsEnd ? nil : Self.none }
        let milliseconds = timeout.roundedUpMilliseconds
        // Longer than the loop's own timeout and than a busy machine delays the loop: libcurl would give up its lookup,
        // whose thread lives on uncounted, or whose connection stays open (DNS over HTTPS, below 8.9).
        return min(milliseconds + milliseconds / 4 + 500, Self.none)
    }

    func apply(to easy: EasyHandle) throws {
        if let milliseconds { try easy.set(.connectTimeout, milliseconds) }
    }
}

/// Bypasses the environment's proxy for the hosts that the environment excepts, and while none of its variables names
/// one: libcurl would read them again before each request, which costs as much as a tenth of a small request.
struct NoProxyOption: EasyOption {
    /// Whether the request uses the environment's proxy, if there is one.
    let usesEnvironments: Bool
    let url: RequestURL

    /// Whether the environment names a proxy for some requests.
    static let mayBeNamed = [false, true].contains { isSecure in
        EnvironmentProxy.variables(isSecure: isSecure).contains(where: EnvironmentVariable.isSet)
    }

    /// Whether the environment may name a proxy for `https` URLs.
    static let mayBeNamedForHTTPS = !EnvironmentProxy.values(isSecure: true).isEmpty

    /// Whether the environment names a proxy that speaks TLS, for `https` URLs and for `http` URLs.
    private static let namesHTTPS = (secure: namesHTTPS(isSecure: true), clear: namesHTTPS(isSecure: false))

    private static func namesHTTPS(isSecure: Bool) -> Bool {
        EnvironmentProxy.values(isSecure: isSecure).contains { TransportOptions.Proxy.Server($0).isHTTPS }
    }

    /// Whether the environment names a SOCKS proxy that gets addresses.
    static let mayTakeAddresses = EnvironmentProxy.all.contains(where: ProxyOption.takesAddresses)

    /// Whether the environment names a proxy that speaks TLS, for URLs of a scheme.
    /// - Parameter isSecure: Whether that is `https`, and not `http`.
    static func mayBeHTTPS(isSecure: Bool) -> Bool { isSecure ? namesHTTPS.secure : namesHTTPS.clear }

    func apply(to easy: EasyHandle) throws {
        guard Self.mayBeNamed else { return try easy.goStraight() }
        guard usesEnvironments else { return }
        if ProxyExceptions.environments.contains(url.host) { return try easy.goStraight() }
        try easy.haveNoExceptions()
        if Self.mayBeHTTPS(isSecure: url.scheme == "https") { try easy.sharesNoConnection() }
    }
}

extension TransportRequest {
    /// Sets every option that this request needs, in order.
    /// - Parameter body: The result of ``TransportRequest/wireBody()``.
    func configure(
        _ easy: EasyHandle, sending body: OutgoingBody, key: ConnectionKey, connectTimeout: ConnectTimeoutOption,
        over support: LibcurlSupport
    ) throws {
        try HardenedDefaults(support: support).apply(to: easy)
        try easy.set(url, isSameOrigin: false)
        try MethodAndBodyOption(method: method, body: body).apply(to: easy)
        try HeaderFieldsOption(request: self, hasBody: hasWireBody).apply(to: easy)
        try HTTPVersionOption(version: key.version).apply(to: easy)
        let isRare = options.hasRareOptions
        let tls = TLSOption(
            options: isRare ? options.tls : nil, looksUpOverHTTPS: key.looksUpOverHTTPS, support: support)
        try tls.apply(to: easy)
        try connectTimeout.apply(to: easy)
        if let log = options.redactingWireLog { try easy.setWireLog(log) }
        let usesEnvironments = !isRare || ProxyOption.usesEnvironments(options)
        try NoProxyOption(usesEnvironments: usesEnvironments, url: url).apply(to: easy)
        guard isRare else { return }
        if expectsContinue, let wait = options.expectContinue {
            // libcurl takes no more than 31 bits.
            try easy.set(.expectTimeout, min(wait.roundedUpMilliseconds, Int(Int32.max)))
        }
        for option in rareOptions { try option.apply(to: easy) }
    }

    /// Whether libcurl sends a body, even an empty one.
    var hasWireBody: Bool { body != nil || method != .get && method != .head }

    /// The groups of options that are not at their defaults.
    private var rareOptions: [any EasyOption] {
        let (tls, names) = (options.tls, options.names)
        var list: [any EasyOption] = []
        if tls.serverName != nil || names != TransportOptions.Names() {
            list.append(NameOption(all: options))
            list.append(RouteOption(request: self))
        }
        if tls.serverName != nil, !headerFields.contains(.host) {
            list.append(HeaderFieldsOption(request: self, hasBody: hasWireBody, namesHost: true))
        }
        list.append(ProxyOption(request: self))
        if options.connection != TransportOptions.Connection() { list.append(ConnectionOption(request: self)) }
        if options.rate != TransportOptions.Rate() { list.append(RateOption(options: options.rate)) }
        return list
    }
}
