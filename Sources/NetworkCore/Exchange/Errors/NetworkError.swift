public import FoundationEssentials
import HTTPTypes

/// The reason why a request did not end in the requested value. The only error type of this library.
///
/// Compare errors by code, as with an error enum. Every ``Code`` is a pattern:
///
/// ```swift
/// do {
///     let users = try await GetUsers().send().body
/// } catch NetworkError.Code.totalTimeout {
///     // took too long
/// } catch NetworkError.Code.nameNotResolved {
///     // no such host
/// } catch let error as NetworkError where error.response?.status == .notFound {
///     // no such users
/// }
/// ```
///
/// The description never contains a body, a query or the value of a header field, with three exceptions. Where the
/// response's Content-Type is the reason, it names its media type or its charset, nothing else of it, as at most 64
/// printable characters. Where a redirect is the reason, it names the URL that `Location` leads to, without user and
/// query. Where the server sent another part than the one asked for, it names the request's `Range`. It can go into a
/// log as it is, and so can the description of anything that contains the error. The server's data is in ``response``
/// and ``unredactedDescription``.
public struct NetworkError: Error, Sendable {
    /// The kind of the error, for programs.
    public var code: Code
    /// The cause, for people: one sentence that contains no secret.
    ///
    /// Control characters are made visible; users, passwords and queries of URLs are removed; the text is cut at
    /// 1,024 bytes.
    public var message: String {
        didSet { message = Redaction().text(message) }
    }
    /// How far the exchange had come; `nil` if that is not known.
    public var phase: Phase?
    /// The error of the layer below, with the code of that layer: a `CURLcode`, an `NSURLError` code. `nil` if there is
    /// none.
    public var underlying: Underlying?
    /// The exchange that failed; `nil` for an error that occurred before an exchange began.
    public var exchange: Exchange?
    /// The response, if it arrived and was then rejected: with ``Code/unacceptableStatus``,
    /// ``Code/unacceptableContentType``, ``Code/decodingFailed``, ``Code/noData``, ``Code/undecodableText``, or the
    /// `NetworkError` of a validation of your own.
    public var response: FailedResponse?
    /// The place where decoding failed, with ``Code/decodingFailed``.
    public var decoding: DecodingFailure?

    /// Creates an error of a transport or a dispatcher, including your own.
    /// - Parameters:
    ///   - code: The kind of the error, which may be a code of your own.
    ///   - message: One sentence without secrets.
    ///   - phase: How far the exchange had come, if known.
    ///   - underlying: The error of the layer below, if there is one.
    public init(_ code: Code, _ message: String, phase: Phase? = nil, underlying: Underlying? = nil) {
        (self.code, self.message) = (code, Redaction().text(message))
        (self.phase, self.underlying) = (phase, underlying)
    }

    /// The error of the layer below: its domain, code and message.
    public struct Underlying: Sendable, Hashable {
        /// The domain: `libcurl`, `NSURLErrorDomain` or `errno`.
        public var domain: String
        /// The error's number in the domain.
        public var code: Int
        /// The domain's own message, redacted like ``NetworkError/message``.
        public var message: String {
            didSet { message = Redaction().text(message) }
        }

        /// Creates an underlying error as its layer reports it. Its message may quote the server and is redacted like
        /// ``NetworkError/message``.
        public init(domain: String, code: Int, message: String) {
            self.domain = domain
            self.code = code
            self.message = Redaction().text(message)
        }
    }

    /// The exchange in which an error occurred.
    public struct Exchange: Sendable, Hashable {
        /// The method of the request.
        public var method: String
        /// The URL of the request, without user and password, and without the query, which may contain keys.
        public var url: String {
            didSet { url = Redaction().url(url) }
        }
        /// The name of the transport.
        public var transport: String
        /// The time from the start of the call to the error; for a transport used directly, from `send`.
        public var elapsed: Duration
        /// The number of attempts: 1, and 1 more for each retry of the pipeline and each repeat of the transport.
        public var attempts = 1
        package var repeats = 0
        /// The number of redirects that the last attempt followed.
        public var redirectCount = 0

        /// Creates the description of an exchange.
        public init(method: String, url: String, transport: String, elapsed: Duration) {
            self.method = method
            self.url = Redaction().url(url)
            self.transport = transport
            self.elapsed = elapsed
        }
    }

    /// A response that arrived and was then rejected.
    public struct FailedResponse: Sendable {
        /// The status, such as 404.
        public var status: HTTPResponse.Status
        /// The header fields, in the order of arrival where the transport has
        /// ``TransportCapabilities/Capability/exactResponseFields``.
        public var headerFields: HTTPFields
        /// The whole body, decompressed; for a streamed body its start, at most 64 KiB.
        public var body: Data
        package var decoder: (any ResponseDecoder)?

        /// Creates a rejected response, for tests and for a dispatcher of your own.
        public init(status: HTTPResponse.Status, headerFields: HTTPFields = [:], body: Data = Data()) {
            self.init(status: status, headerFields: headerFields, body: body, decoder: nil)
        }

        package init(
            status: HTTPResponse.Status, headerFields: HTTPFields, body: Data, decoder: (any ResponseDecoder)?
        ) {
            (self.status, self.headerFields, self.body, self.decoder) = (status, headerFields, body, decoder)
        }
    }

    /// The place where a body could not be decoded, and the reason.
    public struct DecodingFailure: Sendable, Hashable {
        /// The requested type, such as `Array<User>`.
        public var type: String
        /// The path to the value that did not match, such as `[3].name`; empty at the top level. The path may contain
        /// dictionary keys from the body; the error's description shows `…` for them.
        public var codingPath: String
        /// The reason in the decoder's own words, which may quote the body. The error's description states it in words
        /// that don't.
        public var reason: String
        /// The first 512 bytes of the body as text, with control characters made visible.
        public var bodyStart: String

        /// Creates the description of a failure, for a dispatcher of your own.
        public init(type: String, codingPath: String, reason: String, bodyStart: String) {
            (self.type, self.codingPath, self.reason, self.bodyStart) = (type, codingPath, reason, bodyStart)
        }
    }

    static func refused(_ code: Code, _ message: String) -> NetworkError {
        NetworkError(code, message, phase: .preparing)
    }

    /// How far an exchange had come.
    @nonexhaustive
    public enum Phase: String, Sendable, Hashable, Codable {
        /// Nothing was sent: the request was refused.
        case preparing = "preparing the request"
        /// The request was waiting for a connection, or for a place of a step's limit.
        case queued = "waiting in a queue"
        /// The connection was being made: name lookup, TCP, proxy and TLS.
        case connecting = "connecting"
        /// The request was being sent, or the response had not begun.
        case waiting = "waiting for the response"
        /// The head or the body was arriving.
        case receiving = "receiving the response"
        /// The response had arrived and was being checked and decoded.
        case decoding = "reading the response"
    }

    /// The code of any error: a ``NetworkError``'s own, and ``Code/cancelled`` for Swift's `CancellationError`.
    /// `nil` for errors of other types.
    public static func code(of error: any Error) -> Code? {
        (error as? NetworkError)?.code ?? (error is CancellationError ? .cancelled : nil)
    }

    /// Matches by code, so that `catch NetworkError.totalTimeout` catches each of these errors, whatever its words.
    /// ``cancelled`` matches `CancellationError` too.
    public static func ~= (pattern: NetworkError, error: any Error) -> Bool { code(of: error) == pattern.code }

    /// The error that a caller receives: `CancellationError` where its task is cancelled and the error says just that.
    static func thrown(_ error: any Error) -> any Error {
        guard Task.isCancelled, let error = error as? NetworkError, error.code == .cancelled else { return error }
        return CancellationError()
    }

    /// Returns the error with the exchange in which it occurred. An error that already names an exchange stays the
    /// same.
    public func during(_ request: TransportRequest, transport: String, elapsed: Duration, repeats: Int = 0)
        -> NetworkError
    {
        guard exchange == nil else { return self }
        var error = self
        error.exchange = Exchange(
            method: request.method.rawValue,
            url: request.url.description,
            transport: transport,
            elapsed: elapsed
        )
        error.exchange?.repeats = repeats
        error.exchange?.attempts += repeats
        return error
    }

    package static func totalTimeout(of request: TransportRequest, phase: Phase) -> NetworkError {
        timeout(.totalTimeout, of: request.options, phase: phase)
    }

    /// Returns the error for a timeout that is over, with the option's name and value.
    package static func timeout(_ code: Code, of options: TransportOptions, phase: Phase? = nil) -> NetworkError {
        let message =
            switch code {
            case .connectTimeout: "no connection within \(options.connectTimeout ?? .zero) (connectTimeout)"
            case .idleTimeout: "nothing moved for \(options.idleTimeout ?? .zero) (idleTimeout)"
            case .firstByteTimeout:
                "no byte of the response within \(options.firstByteTimeout ?? .zero) (firstByteTimeout)"
            default: "the exchange was not done within \(options.totalTimeout ?? .zero) (totalTimeout)"
            }
        return NetworkError(code, message, phase: phase)
    }
}

extension NetworkError.Code {
    /// Matches an error with this code: `catch NetworkError.Code.unacceptableStatus`. ``cancelled`` matches
    /// `CancellationError` too.
    public static func ~= (pattern: Self, error: any Error) -> Bool { NetworkError.code(of: error) == pattern }
}
