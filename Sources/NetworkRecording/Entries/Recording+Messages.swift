public import FoundationEssentials
public import NetworkCore

extension Recording {
    /// The recorded part of a body.
    public struct Body: Sendable, Hashable, SafelyPrinted {
        /// The bytes from the start of the body.
        public var bytes: Data
        /// The number of bytes that were not recorded: those beyond the limit, or all of them if the body was left out
        /// because it has no structure, see ``Recording/Bodies``.
        public var omitted: Int
        /// The media type that a HAR file has for a body whose header fields have none; else `nil`.
        public var mediaType: String?

        /// Creates a body. Default: an empty one.
        public init(_ bytes: Data = Data(), omitted: Int = 0) {
            self.bytes = bytes
            self.omitted = max(0, omitted)
        }

        /// Creates a body from its start.
        /// - Parameters:
        ///   - bytes: The whole body.
        ///   - limit: The maximum number of bytes to keep.
        public init(_ bytes: Data, limit: Int) {
            let limit = max(0, limit)
            // A slice would keep all of the bytes.
            self.init(bytes.count > limit ? Data([UInt8](bytes.prefix(limit))) : bytes, omitted: bytes.count - limit)
        }

        /// The number of bytes that the body had, unless a secret in it was replaced.
        public var count: Int {
            let (sum, overflow) = bytes.count.addingReportingOverflow(omitted)
            return overflow ? .max : sum
        }

        /// Whether nothing was recorded of a body that was there.
        var isLeftOut: Bool { bytes.isEmpty && omitted > 0 }

        /// The size of the body.
        public var description: String {
            "a body of \(bytes.count) bytes" + (omitted > 0 ? " and \(omitted) that were not recorded" : "")
        }

        /// The bytes as UTF-8 text. Invalid bytes become U+FFFD.
        public var text: String { String(decoding: bytes, as: UTF8.self) }
    }

    /// A recorded request.
    public struct Request: Sendable, SafelyPrinted {
        /// The method.
        public var method: HTTPRequest.Method
        /// The URL as text; from a browser, it may be one that ``NetworkCore/RequestURL`` refuses.
        public var url: String
        /// The header fields as they were sent, in their order and letter case, with repetitions.
        public var headerFields: HTTPFields
        /// The body before compression; `nil` for none.
        public var body: Body?

        /// Creates a request.
        public init(
            method: HTTPRequest.Method = .get, url: String, headerFields: HTTPFields = [:], body: Body? = nil
        ) {
            self.method = method
            self.url = url
            self.headerFields = headerFields
            self.body = body
        }

        /// Creates the record of a request: its method, its URL and its ``NetworkCore/TransportRequest/wireFields``.
        /// - Parameters:
        ///   - request: The request.
        ///   - body: Its body. Default: `nil`, for the start of the request's own if that is in memory.
        ///   - maximumBodyBytes: The limit on the recorded part of the request's own body, in bytes. Default: 1 MiB.
        public init(
            _ request: TransportRequest, body: Body? = nil, maximumBodyBytes: Int = Recording.maximumBodyBytes
        ) {
            self.init(method: request.method, url: request.url.absoluteString, headerFields: request.wireFields)
            self.body =
                body
                ?? request.body.map { own in
                    own.bytes.map { Body($0, limit: maximumBodyBytes) } ?? Body(omitted: own.length ?? 0)
                }
        }

        /// The method and the URL without users, passwords and queries.
        public var description: String { "\(Redaction.visible(method.rawValue)) \(Redaction().url(url))" }
    }

    /// A recorded response.
    public struct Response: Sendable, SafelyPrinted {
        /// The status code, 100 to 999.
        public var status: Int
        /// The reason phrase; empty if there was none, as in HTTP/2.
        public var reason: String
        /// The header fields in the order and letter case in which the transport delivered them, with repetitions.
        /// `Content-Encoding` and `Content-Length` describe the body on the wire.
        public var headerFields: HTTPFields
        /// The body after decompression.
        public var body: Body
        /// The arrival of each chunk. More than 4,096 are recorded as that many, and the last one has the rest. Empty
        /// if it is not known.
        public var chunks: [Chunk]
        /// The trailer fields; `nil` if the transport does not support them, or did not come that far.
        public var trailers: HTTPFields?
        /// The time from the start of the exchange to the head; `nil` if it is not known.
        public var headTime: Duration?

        /// Creates a response. A status outside 100 to 999 becomes 999.
        public init(
            status: Int, reason: String = "", headerFields: HTTPFields = [:], body: Body = Body(),
            chunks: [Chunk] = [], trailers: HTTPFields? = nil, headTime: Duration? = nil
        ) {
            self.status = (100...999).contains(status) ? status : 999
            self.reason = reason
            self.headerFields = headerFields
            self.body = body
            self.chunks = chunks
            self.trailers = trailers
            self.headTime = headTime
        }

        /// Creates the record of a response.
        public init(
            _ head: HTTPResponse, body: Body = Body(), chunks: [Chunk] = [], trailers: HTTPFields? = nil,
            headTime: Duration? = nil
        ) {
            self.init(
                status: head.status.code, reason: head.status.reasonPhrase, headerFields: head.headerFields, body: body,
                chunks: chunks, trailers: trailers, headTime: headTime)
        }

        /// The status, the number of header fields and the size of the body.
        public var description: String { "\(status), \(headerFields.count) header fields, \(body)" }
    }

    /// The arrival of a chunk of a body.
    public struct Chunk: Sendable, Hashable {
        /// The time from the start of the exchange.
        public var time: Duration
        /// The number of bytes.
        public var count: Int

        /// Creates a chunk.
        public init(time: Duration, count: Int) {
            self.time = time
            self.count = count
        }
    }

    /// The maximum number of chunks that are recorded of one body.
    static let maximumChunks = 4096
}

extension Recording.Request {
    /// Returns the request to send once more, with default options.
    ///
    /// Header fields that a transport makes by itself are left out: `Host`, `Content-Length`, `Connection`,
    /// `Transfer-Encoding`, `Accept-Encoding`. So are those whose values were secret: the recording does not have them.
    /// - Throws: ``NetworkCore/NetworkError/Code/invalidURL``; the code `notRecorded` if a part of the body was not
    ///   recorded.
    public func transportRequest() throws -> TransportRequest {
        if let body, body.omitted > 0 {
            throw NetworkError(
                .notRecorded,
                "\(body.omitted) bytes of the request's body were not recorded; 'RecordingTransport.Options' has the "
                    + "bodies and their limit",
                phase: .preparing)
        }
        let fields = headerFields.filter { field in
            !Self.generated.contains(field.name.canonicalName) && field.value != SecretMark.text
        }
        return TransportRequest(
            method: method, url: try RequestURL(url), headerFields: HTTPFields(fields),
            body: body.map { .bytes($0.bytes) })
    }

    private static let generated: Set<String> = [
        "host", "content-length", "connection", "keep-alive", "proxy-connection", "transfer-encoding",
        "accept-encoding", "content-encoding", "upgrade", "te",
    ]
}
