/// The content of a request, made by an encoder: `.json(user)`, `.form(["a": 1])`, `.multipart([…])`, `.text("…")`,
/// `.bytes(data, contentType: "image/png")`, `.file("/path", contentType: "text/csv")`, or
/// `.stream(chunks, contentType: …)`.
///
/// Creating content never fails. It is encoded when the request is sent, once each time. An encoder of your own fits in
/// one file:
///
/// ```swift
/// struct CSVContent: BodyEncoder {
///     let rows: [[String]]
///
///     func encode() throws -> RequestContent.Encoded {
///         let text = rows.map { $0.joined(separator: ",") }.joined(separator: "\r\n")
///         return RequestContent.Encoded(.bytes(Data(text.utf8)), contentType: "text/csv")
///     }
/// }
///
/// extension RequestContent {
///     static func csv(_ rows: [[String]]) -> RequestContent { RequestContent(CSVContent(rows: rows)) }
/// }
///
/// let upload = RequestData(path: "http://127.0.0.1:3000/upload", method: .post, content: .csv([["a", "b"]]))
/// ```
public struct RequestContent: Sendable {
    private let encoder: any BodyEncoder

    /// Creates content from an encoder.
    public init(_ encoder: some BodyEncoder) { self.encoder = encoder }

    /// Encodes the content.
    /// - Parameter json: The encoder of a ``json(_:encoder:)`` that names none. Default: the standard one.
    /// - Throws: The encoder's error.
    public func encoded(by json: JSONRequestEncoder = .json) throws -> Encoded {
        try (encoder as? any ClientBodyEncoder)?.encode(by: json) ?? encoder.encode()
    }
}

/// A type that makes a body from a value. See ``RequestContent`` for how to add your own.
public protocol BodyEncoder: Sendable {
    /// Returns the body and its type.
    /// - Throws: ``NetworkError``, which names what can't be encoded, or an error of its own, which reaches the caller
    ///   unchanged. Nothing has been sent then.
    func encode() throws -> RequestContent.Encoded
}

/// Content that a client's encoder makes, or whose parts it makes.
protocol ClientBodyEncoder: BodyEncoder {
    func encode(by client: JSONRequestEncoder) throws -> RequestContent.Encoded
}

extension ClientBodyEncoder {
    /// Returns the body as the standard encoder makes it.
    public func encode() throws -> RequestContent.Encoded { try encode(by: .json) }
}

extension RequestContent {
    /// A body and its type.
    public struct Encoded: Sendable {
        /// The body, in memory or produced while it is sent.
        public var body: TransportRequest.Body
        /// The value of `Content-Type`, unless the request's header fields have one. `nil` for none.
        public var contentType: String?

        /// Creates encoded content.
        public init(_ body: TransportRequest.Body, contentType: String?) {
            self.body = body
            self.contentType = contentType
        }
    }
}
