public import HTTPTypes

/// What one exchange may take, and how it is spoken.
public struct TransportOptions: Sendable, Hashable {
    /// The longest time from leaving the queue to a usable connection: name lookup, TCP, proxy, TLS. 10 s by default;
    /// `nil` leaves it to the total timeout. Fails with ``NetworkError/Code/connectTimeout``.
    public var connectTimeout: Duration? = .seconds(10)
    /// The longest time in which nothing moves, in either direction, once connected. 60 s by default; `nil` for none:
    /// long polls need it long or absent. A body that is sent moves when the server acknowledges some of it, where curl
    /// speaks HTTP/1 without having had to agree on it (tcp(7), SIOCOUTQ); elsewhere when the system takes it. Fails
    /// with ``NetworkError/Code/idleTimeout``.
    public var idleTimeout: Duration? = .seconds(60)
    /// The longest time for the whole exchange, from waiting for its turn until the reader has the last byte of the
    /// body. Encoding and packing the request, interceptors, redirect decisions, unpacking the response and a slow
    /// reader count: after it each read fails, also where bytes are left that arrived in time. None by default. Fails
    /// with ``NetworkError/Code/totalTimeout``.
    public var totalTimeout: Duration?
    /// The longest time from a usable connection to the first byte of the response; sending the request counts. None by
    /// default. Fails with ``NetworkError/Code/firstByteTimeout``. Not for URLSession.
    public var firstByteTimeout: Duration?
    /// The largest response body that is collected (``TransportResponse/Body/collect(upTo:)``, the typed calls),
    /// counted after decompression, in bytes. 64 MiB by default; at least 0. A larger one fails with
    /// ``NetworkError/Code/bodyTooLarge``. A body that is read chunk by chunk has no limit.
    public var maximumBodyBytes = 64 * 1024 * 1024
    /// Whether gzip and deflate bodies are asked for and decompressed. On by default. Content-Encoding and
    /// Content-Length in the response's head always describe what was on the wire.
    ///
    /// The ratio has no limit, since a file of zeros is honest: what a few bytes may become is bounded by the size of
    /// what is collected or downloaded, and by ``totalTimeout``; a stream is unpacked no faster than it is read. Over
    /// curl a body has at most two encodings, and one that takes in more than 1 MiB, and 32 times more than it gives,
    /// is ``NetworkError/Code/invalidContentEncoding``. Over URLSession on Linux, libcurl unpacks up to five encodings
    /// by itself.
    public var decompress = true
    /// The protocol to speak. ``HTTPVersion/automatic`` by default.
    public var httpVersion = HTTPVersion.automatic
    /// Called as the response's body arrives, on the transport's own thread, so it must return at once. Counts bytes on
    /// the wire over curl, decoded bytes over URLSession. `nil` by default.
    public var progress: TransferProgress.Handler?
    /// Where the exchange is written down as it goes over the wire, secrets left out. `nil` by default.
    public var wireLog: WireLog?
    /// More header fields whose values are secret, besides ``SecretFields``: no log and no curl command shows them,
    /// and they
    /// stay behind when a redirect leads to another origin. None by default.
    public var secretFields: Set<HTTPField.Name> = []
    /// The groups below; `nil` while all of them are at their defaults.
    private var rare: RareOptionsBox?

    /// The defaults.
    public init() {}

    /// The log that a transport writes into: ``wireLog``, which knows ``secretFields`` as well.
    package var redactingWireLog: WireLog? { wireLog?.hiding(secretFields) }

    /// The longest timeout that is accepted, a year; use `nil` for none.
    public static let maximumTimeout = Duration.seconds(365 * 86_400)

    /// Checks the ranges.
    /// - Throws: ``NetworkError/Code/invalidOption`` that names the option and its value.
    public func check() throws {
        try Self.check(connectTimeout, "connectTimeout")
        try Self.check(idleTimeout, "idleTimeout")
        try Self.check(totalTimeout, "totalTimeout")
        try Self.check(firstByteTimeout, "firstByteTimeout")
        guard maximumBodyBytes >= 0 else {
            throw NetworkError(.invalidOption, "maximumBodyBytes is \(maximumBodyBytes), below 0", phase: .preparing)
        }
        try rare?.check()
    }

    private static func check(_ timeout: Duration?, _ name: StaticString) throws {
        guard let timeout, timeout <= .zero || timeout > maximumTimeout else { return }
        throw NetworkError(
            .invalidOption,
            "\(name) is \(timeout); it must be above 0 and at most a year (nil for none)",
            phase: .preparing
        )
    }

    /// What a transport must be able to do for these.
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
        case .http3: required.append(.http3)
        }
        return required
    }

    /// The protocol that is spoken to the server.
    public enum HTTPVersion: String, Sendable, Hashable, CaseIterable {
        /// HTTP/2 over TLS where the transport does it well, else HTTP/1.1.
        case automatic
        /// HTTP/1.0.
        case http1_0 = "1.0"
        /// HTTP/1.1.
        case http1_1 = "1.1"
        /// HTTP/2 if the server agrees during the TLS handshake, else HTTP/1.1. In clear: HTTP/1.1. Refused below
        /// libcurl 8.1, which mixes up the bodies of its streams.
        case http2 = "2"
        /// HTTP/2 without asking whether the server speaks it, in clear (h2c) or over TLS; a server that does not can't
        /// be understood. CURL_HTTP_VERSION_2_PRIOR_KNOWLEDGE; refused below libcurl 8.1, as ``http2`` is.
        case http2PriorKnowledge = "2-prior-knowledge"
        /// HTTP/3 where the server answers it, else HTTP/2 or 1.1. In clear: HTTP/1.1. CURL_HTTP_VERSION_3, where
        /// libcurl was built with it; refused below 8.1, as ``http2`` is.
        case http3 = "3"
    }
}

extension TransportOptions {
    /// Whom to trust, who we are, and how TLS is spoken.
    public var tls: TLS {
        get { rare?.value.tls ?? TLS() }
        set { set(\.tls, newValue) }
    }

    /// Through whom to connect. ``TransportOptions/Proxy/environment`` by default.
    public var proxy: Proxy {
        get { rare?.value.proxy ?? Proxy() }
        set { set(\.proxy, newValue) }
    }

    /// How a connection is made and kept.
    public var connection: Connection {
        get { rare?.value.connection ?? Connection() }
        set { set(\.connection, newValue) }
    }

    /// How names become addresses.
    public var names: Names {
        get { rare?.value.names ?? Names() }
        set { set(\.names, newValue) }
    }

    /// How fast bytes may go, and how slow they must not.
    public var rate: Rate {
        get { rare?.value.rate ?? Rate() }
        set { set(\.rate, newValue) }
    }

    /// Who asks, towards the server. Nobody by default.
    public var authentication: Authentication? {
        get { rare?.value.authentication }
        set { set(\.authentication, newValue) }
    }

    /// User and password that stood in the URL.
    var urlCredentials: URLCredentials? {
        get { rare?.value.urlCredentials }
        set { set(\.urlCredentials, newValue) }
    }

    /// Which addresses may be connected to. ``AddressPolicy/any`` by default.
    public var addressPolicy: AddressPolicy {
        get { rare?.value.addressPolicy ?? .any }
        set { set(\.addressPolicy, newValue) }
    }

    /// The encodings to ask for and decode while ``decompress`` is on, in the order of `Accept-Encoding`.
    /// ``TransportOptions/ContentEncoding/common`` by default, which both transports decode.
    ///
    /// A response in another encoding, or in one although none was asked for, is decoded all the same if the transport
    /// knows it, as browsers do. Downloads refuse it, for the file's offsets, length and checksum would be those of
    /// something else.
    public var acceptedEncodings: [ContentEncoding] {
        get { rare?.value.acceptedEncodings ?? ContentEncoding.common }
        set { set(\.acceptedEncodings, newValue) }
    }

    /// Whether a request's body is packed, with `Content-Encoding` saying so. Off by default: the server must know it.
    ///
    /// Bytes are packed before they are sent, on the task that sends. A stream or a file is packed while it is sent,
    /// and its length is then unknown; what a chunk holds may leave with a later one. A request without a body stays
    /// without.
    public var requestCompression: RequestCompression {
        get { rare?.value.requestCompression ?? .none }
        set { set(\.requestCompression, newValue) }
    }

    private mutating func set<Value>(_ path: WritableKeyPath<RareOptions, Value>, _ value: Value) {
        var options = rare?.value ?? RareOptions()
        options[keyPath: path] = value
        rare = options == RareOptions() ? nil : RareOptionsBox(options)
    }

    /// Whether any of the groups is not at its defaults: a quick question, for the way of every request.
    package var hasRareOptions: Bool { rare != nil }
}
