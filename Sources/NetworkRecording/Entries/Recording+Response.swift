public import NetworkCore

extension Recording {
    /// A recorded response.
    public struct Response: Sendable {
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
