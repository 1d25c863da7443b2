public import HTTPTypes

/// The options of a request: timeouts, limits, protocol, connection and credentials.
public struct TransportOptions: Sendable, Hashable {
    /// The timeout for making a connection: name lookup, TCP, proxy and TLS. It starts when the request leaves the
    /// queue, or when it waits for nothing but the lookup of its name. Default: 10 s; `nil` leaves only the total
    /// timeout, and 300 s over curl with ``Names/dnsOverHTTPS`` and through a proxy. A connection that takes longer
    /// fails with ``NetworkError/Code/connectTimeout``.
    public var connectTimeout: Duration? = .seconds(10)
    /// The timeout for an established connection on which nothing moves in either direction. Default: 60 s; `nil` for
    /// none. Long polls need a long timeout or none. An exchange that is idle for longer fails with
    /// ``NetworkError/Code/idleTimeout``. Of a response, a line of its head or of the chunked coding moves when it is
    /// complete: one that arrives byte by byte is idle.
    ///
    /// A request's body moves when the server acknowledges some of it, if curl speaks HTTP/1 without having negotiated
    /// it (tcp(7), SIOCOUTQ). Otherwise it moves when the system accepts some of it.
    public var idleTimeout: Duration? = .seconds(60)
    /// The timeout for the whole call, with its retries and redirects, until the reader has the last byte of the body.
    /// Over a transport alone it is for the exchange, from entering the queue on. Default: `nil`, for none. What takes
    /// longer fails with ``NetworkError/Code/totalTimeout``.
    ///
    /// The time includes encoding and compressing the request, interceptors, redirect decisions, decompressing the
    /// response and a slow reader. When it is over, every read fails, even if bytes that arrived in time are left.
    public var totalTimeout: Duration?
    /// The timeout from an established connection to the first byte of the response, including the time to send the
    /// request. Default: `nil`, for none. A response that begins later fails with
    /// ``NetworkError/Code/firstByteTimeout``. Not supported by the URLSession transport.
    public var firstByteTimeout: Duration?
    /// The maximum size of a body that is held in memory, in bytes; at least 0. Default: 64 MiB. A larger body fails
    /// with ``NetworkError/Code/bodyTooLarge``. The limit is for:
    ///
    /// - a response's body that is collected (``TransportResponse/Body/collect(upTo:)``, the typed calls), after
    ///   decompression,
    /// - the unread part of a streamed response where the transport can't pause the server: over URLSession, and over
    ///   HTTP/2 and HTTP/3 with libcurl below 8.14,
    /// - a streamed body of a request that the pipeline collects because the transport can't stream it.
    ///
    /// A body that is read chunk by chunk has no other limit.
    public var maximumBodyBytes = 64 * 1024 * 1024
    /// Whether the request accepts compressed responses and decompresses them: gzip and deflate, or the encodings in
    /// ``acceptedEncodings``. Default: `true`. Content-Encoding and Content-Length in the response's head always
    /// describe the body on the wire.
    ///
    /// The compression ratio has no limit, because a file of zeros is legitimate. The limits of a decompressed body are
    /// the size limit for collecting or downloading it and ``totalTimeout``; a stream is decompressed no faster than it
    /// is read. Over curl, a body has at most two encodings, and an encoding that consumes more than 1 MiB plus 32
    /// times what it produces fails with ``NetworkError/Code/invalidContentEncoding``. Over URLSession on Linux,
    /// libcurl itself decodes up to five encodings.
    public var decompress = true
    /// The version of HTTP. Default: ``HTTPVersion/automatic``.
    /// [CURLOPT_HTTP_VERSION](https://curl.se/libcurl/c/CURLOPT_HTTP_VERSION.html)
    public var httpVersion = HTTPVersion.automatic
    /// Receives the progress of the response's body. It is called on the transport's own thread and must return at
    /// once. It counts bytes on the wire over curl, decoded bytes over URLSession, and begins anew for each exchange of
    /// a call: the bodies of redirects, challenges and failed attempts are reported too. Default: `nil`.
    ///
    /// Copies of options with a closure are equal; a closure that is set twice makes two that are not.
    public var progress: (@Sendable (TransferProgress) -> Void)? {
        get { progressHandler?.value }
        set { progressHandler = newValue.map { Identified($0) } }
    }
    private var progressHandler: Identified<@Sendable (TransferProgress) -> Void>?
    /// The log for the exchange as it goes over the wire, without secrets. Default: `nil`. Not supported by the
    /// URLSession transport. Next to ``Names/dnsOverHTTPS`` it is ``NetworkError/Code/invalidOption``.
    public var wireLog: WireLog?
    /// Header fields whose values are secret, in addition to ``SecretFields``. No log and no curl command shows their
    /// values, and a redirect to another origin drops them. Default: none.
    public var secretFields: Set<HTTPField.Name> = []
    /// The groups of options below; `nil` while all of them are at their defaults.
    @usableFromInline var rare: RareOptionsBox?

    /// Creates the default options.
    public init() {}

    package var redactingWireLog: WireLog? { wireLog?.hiding(secretFields) }

    /// The maximum value of a timeout: a year. Use `nil` for no timeout.
    public static let maximumTimeout = Duration.seconds(365 * 86_400)

    /// Checks that all values are in range.
    /// - Throws: ``NetworkError/Code/invalidOption`` with the option's name and value.
    public func check() throws {
        try checkApartFromGroups()
        try rare?.check()
    }

    /// Checks the values of the options that are in none of the groups.
    func checkApartFromGroups() throws {
        try Self.check(connectTimeout, "connectTimeout")
        try Self.check(idleTimeout, "idleTimeout")
        try Self.check(totalTimeout, "totalTimeout")
        try Self.check(firstByteTimeout, "firstByteTimeout")
        guard maximumBodyBytes >= 0 else {
            throw NetworkError.refused(.invalidOption, "maximumBodyBytes is \(maximumBodyBytes), below 0")
        }
    }

    private static func check(_ timeout: Duration?, _ name: StaticString) throws {
        guard let timeout, timeout <= .zero || timeout > maximumTimeout else { return }
        throw NetworkError.refused(
            .invalidOption, "\(name) is \(timeout); it must be above 0 and at most a year (nil for none)")
    }

    var required: [TransportCapabilities.Capability] {
        var required = rare?.required ?? []
        if firstByteTimeout != nil { required.append(.firstByteTimeout) }
        if !decompress { required.append(.rawBodies) }
        switch httpVersion {
        case .automatic: break
        case .http1_0: required.append(.http1_0)
        case .http1_1: required.append(.http1_1)
        case .http2: required.append(.http2)
        case .http2PriorKnowledge: required.append(.http2PriorKnowledge)
        case .http3, .http3Only: required.append(.http3)
        }
        return required
    }

    /// The version of HTTP to speak to the server.
    @nonexhaustive
    public enum HTTPVersion: String, Sendable, Hashable, CaseIterable {
        /// HTTP/2 over TLS where the transport handles it well, or else HTTP/1.1. Over curl also HTTP/3, where the
        /// dispatcher's configuration has `upgradesToHTTP3` and the server announces it.
        case automatic
        /// HTTP/1.0.
        case http1_0 = "1.0"
        /// HTTP/1.1.
        case http1_1 = "1.1"
        /// HTTP/2 if the server agrees during the TLS handshake, or else HTTP/1.1. Without TLS: HTTP/1.1. Refused below
        /// libcurl 8.1, which mixes up the bodies of its streams.
        case http2 = "2"
        /// HTTP/2 without negotiation, in the clear (h2c) or over TLS. A server that does not speak HTTP/2 can't be
        /// understood. CURL_HTTP_VERSION_2_PRIOR_KNOWLEDGE; refused below libcurl 8.1, like ``http2``.
        case http2PriorKnowledge = "2-prior-knowledge"
        /// HTTP/3 if the server responds to it, or else HTTP/2 or HTTP/1.1. Without TLS: HTTP/1.1. Where a proxy may be
        /// used: like ``http2``.
        ///
        /// After half of ``TransportOptions/Connection/happyEyeballsDelay`` without a response to QUIC (100 ms by
        /// default), and at once where the server's system refuses it, the connection is made over TCP as well. The
        /// dispatcher then asks this server for HTTP/2 alone: for a minute, and after each further failure for twice as
        /// long, up to an hour. CURL_HTTP_VERSION_3, if libcurl was built with it; refused below libcurl 8.1, like
        /// ``http2``.
        case http3 = "3"
        /// HTTP/3 or nothing, to find out whether QUIC reaches a server. What does not go over QUIC is refused: a URL
        /// without TLS, a proxy, a Unix socket, and TLS up to 1.2. CURL_HTTP_VERSION_3ONLY.
        case http3Only = "3-only"
    }

    /// The trusted authorities, the client certificate and the parameters of TLS.
    public var tls: TLS {
        get { rare?.value.tls ?? TLS() }
        set { set(\.tls, newValue) }
    }

    /// The proxy to connect through. Default: ``TransportOptions/Proxy/environment``.
    public var proxy: Proxy {
        get { rare?.value.proxy ?? .environment }
        set { set(\.proxy, newValue) }
    }

    /// How connections are made and kept.
    public var connection: Connection {
        get { rare?.value.connection ?? Connection() }
        set { set(\.connection, newValue) }
    }

    /// How host names are resolved.
    public var names: Names {
        get { rare?.value.names ?? Names() }
        set { set(\.names, newValue) }
    }

    /// Limits for the speed of a transfer, upper and lower. Default: no limits.
    public var rate: Rate {
        get { rare?.value.rate ?? Rate() }
        set { set(\.rate, newValue) }
    }

    /// The credentials for the server. Default: `nil`, for none.
    public var authentication: Authentication? {
        get { rare?.value.authentication }
        set { set(\.authentication, newValue) }
    }

    var urlCredentials: URLCredentials? {
        get { rare?.value.urlCredentials }
        set { set(\.urlCredentials, newValue) }
    }

    /// The rule for the addresses that the request may connect to. Default: ``AddressPolicy/any``. Another one next to
    /// an explicit proxy or a Unix socket is ``NetworkError/Code/invalidOption``.
    public var addressPolicy: AddressPolicy {
        get { rare?.value.addressPolicy ?? .any }
        set { set(\.addressPolicy, newValue) }
    }

    /// The encodings to accept and decode while ``decompress`` is on, in the order of `Accept-Encoding`. Default:
    /// ``TransportOptions/ContentEncoding/common``, which both transports decode. An empty list is
    /// ``NetworkError/Code/invalidOption``: turn ``decompress`` off instead.
    ///
    /// A response in another encoding is decoded nevertheless if the transport supports it, as in browsers; so is an
    /// encoded response to a request that accepted no encoding. Downloads reject such a response, because the file's
    /// offsets, length and checksum would be those of other contents.
    public var acceptedEncodings: [ContentEncoding] {
        get { rare?.value.acceptedEncodings ?? ContentEncoding.common }
        set { set(\.acceptedEncodings, newValue) }
    }

    /// The compression of the request's body, announced in `Content-Encoding`. Default: ``RequestCompression/none``,
    /// because the server must support it. Next to a `Content-Encoding` of the request's own it is
    /// ``NetworkError/Code/invalidOption``.
    ///
    /// Bytes are compressed before they are sent, on the sending task. A stream or a file is compressed while it is
    /// sent; its length is then unknown. Each chunk of a stream leaves as a whole, so that a server can respond to it,
    /// and costs some 5 bytes besides; tiny chunks are better joined. A request without a body stays without one.
    public var requestCompression: RequestCompression {
        get { rare?.value.requestCompression ?? .none }
        set { set(\.requestCompression, newValue) }
    }

    /// The longest wait for the server's 100 before a request's body goes out: the request is sent with
    /// `Expect: 100-continue` ([RFC 9110 §10.1.1](https://www.rfc-editor.org/rfc/rfc9110#section-10.1.1)), so that a
    /// server can refuse it before the body. Default: `nil`, which sends no such field. Not supported by the URLSession
    /// transport.
    ///
    /// The body goes out when the server sends 100, or when the time is over, since old servers never do. A final
    /// response comes in place of the body; the connection is then closed. After a 417 the request is repeated without
    /// the field. A request without a body has no such field; one of its own waits for a second, or for this time.
    /// [CURLOPT_EXPECT_100_TIMEOUT_MS](https://curl.se/libcurl/c/CURLOPT_EXPECT_100_TIMEOUT_MS.html)
    public var expectContinue: Duration? {
        get { rare?.value.expectContinue }
        set { set(\.expectContinue, newValue) }
    }

    private mutating func set<Value>(_ path: WritableKeyPath<RareOptions, Value>, _ value: Value) {
        var options = rare?.value ?? RareOptions()
        options[keyPath: path] = value
        rare = options == RareOptions() ? nil : RareOptionsBox(options)
    }

    /// Whether any of the groups is not at its defaults: a fast check for the path of every request.
    @inlinable package var hasRareOptions: Bool { rare != nil }

    /// The identity of the groups' values, for as long as a copy of these options exists: options with the same
    /// identity have the same values in all groups. `nil` while all of them are at their defaults.
    package var groupsIdentity: ObjectIdentifier? { rare.map { ObjectIdentifier($0) } }

    /// The groups with the same identity; everything else is at its default.
    package var groupsAlone: TransportOptions {
        var options = TransportOptions()
        options.rare = rare
        return options
    }

    /// The groups that decide about a connection; everything else is at its default.
    package var ofConnection: TransportOptions {
        var options = TransportOptions()
        guard var groups = rare?.value else { return options }
        let defaults = Connection()
        groups.connection.isFresh = defaults.isFresh
        groups.connection.forbidsReuse = defaults.forbidsReuse
        groups.connection.repeatsAnyMethod = defaults.repeatsAnyMethod
        groups.rate = Rate()
        (groups.authentication, groups.urlCredentials) = (nil, nil)
        (groups.acceptedEncodings, groups.requestCompression) = (ContentEncoding.common, .none)
        groups.expectContinue = nil
        options.rare = groups == RareOptions() ? nil : RareOptionsBox(groups)
        return options
    }

    /// Whether a request bypasses the proxy that the environment names: that proxy would choose the address, or connect
    /// to another one.
    package var bypassesEnvironmentsProxy: Bool {
        addressPolicy != .any || connection.unixSocket != nil || !names.addresses.isEmpty
    }
}
