/// What a request sends along, as an encoder makes it: `.json(user)`, `.form(["a": 1])`, `.multipart([…])`,
/// `.bytes(data, type: "image/png")`, `.text("…")`, `.file("/path", type: "text/csv")`, `.stream(chunks, type: …)`.
///
/// Making one never fails; encoding happens when the request is sent, once for each sending. An encoder of your own is
/// one file:
///
/// ```swift
/// struct CSVContent: ContentEncoder {
///     let rows: [[String]]
///
///     func encode() throws -> RequestContent.Encoded {
///         let text = rows.map { $0.joined(separator: ",") }.joined(separator: "\r\n")
///         return RequestContent.Encoded(.bytes(Data(text.utf8)), type: "text/csv")
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
    private let encoder: any ContentEncoder

    /// What an encoder makes.
    public init(_ encoder: some ContentEncoder) { self.encoder = encoder }

    /// Encodes it.
    /// - Throws: The encoder's error.
    public func encoded() throws -> Encoded { try encoder.encode() }
}

/// Makes a body of a value. See ``RequestContent`` for how to add your own.
public protocol ContentEncoder: Sendable {
    /// The body and its type.
    /// - Throws: ``NetworkError`` that names what can't be encoded, or an error of its own, which reaches the caller as
    ///   it is. Nothing was sent then.
    func encode() throws -> RequestContent.Encoded
}

extension RequestContent {
    /// A body and what it is.
    public struct Encoded: Sendable {
        /// The bytes, here already or still to be produced.
        public var body: TransportRequest.Body
        /// The value of `Content-Type`, unless the request's header fields have one. `nil` for none.
        public var contentType: String?

        /// A body and its type.
        public init(_ body: TransportRequest.Body, type contentType: String?) {
            self.body = body
            self.contentType = contentType
        }
    }
}
