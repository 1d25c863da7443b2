public import NetworkCore

extension Recording {
    /// A recorded request.
    public struct Request: Sendable {
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
    }
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
