public import FoundationEssentials
import HTTPTypes

/// Why a request did not end in the value that was asked for. The one error type of this library.
///
/// Compare by code, in the style of an error enum:
///
/// ```swift
/// do {
///     let users = try await GetUsers().send().body
/// } catch NetworkError.totalTimeout {
///     // took too long
/// } catch let error as NetworkError where error.response?.status == .notFound {
///     // no such users
/// }
/// ```
///
/// The description never holds a body, a query or a header value: it can go into a log as it is, and so can whatever
/// the
/// error is part of. What the server sent is in ``response`` and in ``unredactedDescription``.
public struct NetworkError: Error, Sendable {
    /// What went wrong, for programs.
    public var code: Code {
        get { content.value.code }
        set { content.value.code = newValue }
    }
    /// What went wrong, for people: one sentence that names the culprit and holds no secret. Control characters in it
    /// are
    /// made visible, users, passwords and queries of URLs taken out, and it is cut at 1,024 bytes.
    public var message: String {
        get { content.value.message }
        set { content.value.message = Redaction().text(newValue) }
    }
    /// How far the exchange had come.
    public var phase: Phase? {
        get { content.value.phase }
        set { content.value.phase = newValue }
    }
    /// The error below, as its own layer counts it: a `CURLcode`, an `NSURLError` code.
    public var underlying: Underlying? {
        get { content.value.underlying }
        set { content.value.underlying = newValue }
    }
    /// Which exchange failed. `nil` for an error found before there was one.
    public var exchange: Exchange? {
        get { content.value.exchange }
        set { content.value.exchange = newValue }
    }
    /// What the server answered, if its answer arrived and was then refused:
    /// ``Code/unacceptableStatus``, ``Code/unacceptableContentType``, ``Code/decodingFailed``, ``Code/noData``.
    public var response: FailedResponse? {
        get { content.value.response }
        set { content.value.response = newValue }
    }
    /// Where decoding stopped, with ``Code/decodingFailed``.
    public var decoding: DecodingFailure? {
        get { content.value.decoding }
        set { content.value.decoding = newValue }
    }

    private var content: CopyOnWrite<Content>

    private struct Content: Sendable {
        var code: Code
        var message: String
        var phase: Phase?
        var underlying: Underlying?
        var exchange: Exchange?
        var response: FailedResponse?
        var decoding: DecodingFailure?
    }

    /// An error of a transport or dispatcher, yours included.
    /// - Parameters:
    ///   - code: What went wrong; a code of your own is fine.
    ///   - message: One sentence without secrets.
    ///   - phase: How far the exchange had come, if known.
    ///   - underlying: The error below, if there is one.
    public init(_ code: Code, _ message: String, phase: Phase? = nil, underlying: Underlying? = nil) {
        content = CopyOnWrite(
            Content(code: code, message: Redaction().text(message), phase: phase, underlying: underlying))
    }

    /// The error of the layer below: its domain, number and words.
    public struct Underlying: Sendable, Hashable {
        /// `libcurl`, `NSURLErrorDomain`, `errno`.
        public var domain: String
        /// The number that the domain gives it.
        public var code: Int
        /// The domain's own words, as far as they can be shown.
        public var message: String {
            didSet { message = Redaction().text(message) }
        }

        /// An underlying error as its layer states it. Its words may quote the server: they are treated as
        /// ``NetworkError/message`` is.
        public init(domain: String, code: Int, message: String) {
            self.domain = domain
            self.code = code
            self.message = Redaction().text(message)
        }
    }

    /// Which exchange an error belongs to.
    public struct Exchange: Sendable, Hashable {
        /// The request's method.
        public var method: String
        /// The request's URL without its query, which may hold keys, and without a user and a password.
        public var url: String {
            didSet { url = Redaction().url(url) }
        }
        /// The transport that carried it.
        public var transport: String
        /// The time from the call's start to the error; over a transport alone, that from `send`.
        public var elapsed: Duration
        /// How often the whole was tried: 1, and 1 more for each retry of the pipeline and each repeat of the
        /// transport.
        public var attempts = 1
        /// How often the transport sent the request again by itself.
        package var repeats = 0
        /// How many redirects were followed in the last attempt.
        public var redirects = 0

        /// Names an exchange.
        public init(method: String, url: String, transport: String, elapsed: Duration) {
            self.method = method
            self.url = Redaction().url(url)
            self.transport = transport
            self.elapsed = elapsed
        }
    }

    /// An answer that arrived and was then refused.
    public struct FailedResponse: Sendable {
        /// The status, 404 for example.
        public var status: HTTPResponse.Status
        /// The header fields, in the order of arrival.
        public var headerFields: HTTPFields
        /// The whole body, decompressed; of a streamed one the start, at most 64 KiB.
        public var body: Data
    }

    /// Where and why a body could not be decoded.
    public struct DecodingFailure: Sendable, Hashable {
        /// The type that was asked for, `Array<User>` for example.
        public var type: String
        /// The way to the value that did not fit, `[3].name` for example; empty at the top. A dictionary's keys in it
        /// come from the body; the error's description shows `…` for them.
        public var codingPath: String
        /// The decoder's reason, in its own words, which may quote the body. The error's description has it in words
        /// that don't.
        public var reason: String
        /// The first 512 bytes of the body as text, control characters made visible.
        public var bodyStart: String
    }
}

extension NetworkError {
    /// How far an exchange had come.
    public enum Phase: String, Sendable, Hashable, Codable {
        /// Nothing was sent: the request itself was refused.
        case preparing = "preparing the request"
        /// It waited for its turn.
        case queued = "waiting for a connection slot"
        /// Name lookup, TCP, proxy and TLS.
        case connecting = "connecting"
        /// The request was on its way, or its answer had not begun.
        case waiting = "waiting for the response"
        /// The head or the body was arriving.
        case receiving = "receiving the response"
        /// The answer had arrived and was being checked and decoded.
        case decoding = "reading the response"
    }
}
