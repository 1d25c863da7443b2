public import FoundationEssentials
public import HTTPTypes

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
/// let upload = RequestData(path: "http://127.0.0.1:8080/upload", method: .post, content: .csv([["a", "b"]]))
/// ```
public struct RequestContent: Sendable, SafelyPrinted {
    private let encode: @Sendable (Defaults) throws -> Encoded

    /// Creates content from an encoder.
    public init(_ encoder: some BodyEncoder) { encode = { _ in try encoder.encode() } }

    init(_ encode: @escaping @Sendable (Defaults) throws -> Encoded) { self.encode = encode }

    /// Encodes the content.
    /// - Parameter json: The encoder of a ``json(_:encoder:)`` that names none. Default: the standard one.
    /// - Throws: The encoder's error.
    public func encoded(by json: JSONRequestEncoder = .json) throws -> Encoded {
        try encoded(by: Defaults(json: json))
    }

    func encoded(by defaults: Defaults) throws -> Encoded { try encode(defaults) }

    /// Returns the same content with a body that reports how much of it has gone to the transport; see
    /// ``TransportRequest/Body/reportingProgress(_:)``. The progress of a multipart form is that of all its parts
    /// together.
    public func reportingProgress(_ report: @escaping @Sendable (TransferProgress) -> Void) -> RequestContent {
        RequestContent { defaults in
            var encoded = try encoded(by: defaults)
            encoded.body = encoded.body.reportingProgress(report)
            return encoded
        }
    }

    /// Returns the same content with trailer fields after it, computed when it has been produced; see
    /// ``TransportRequest/Body/followed(byTrailers:)``.
    public func followed(byTrailers trailers: @escaping @Sendable () async throws -> HTTPFields) -> RequestContent {
        RequestContent { defaults in
            var encoded = try encoded(by: defaults)
            encoded.body = encoded.body.followed(byTrailers: trailers)
            return encoded
        }
    }

    /// What applies to content that has no such setting of its own.
    struct Defaults {
        var json = JSONRequestEncoder.json
        var conventions = RequestData.Conventions.standard
    }

    /// A body and its type.
    public struct Encoded: Sendable, SafelyPrinted {
        /// The body, in memory or produced while it is sent.
        public var body: TransportRequest.Body
        /// The value of `Content-Type`, unless the request's header fields have one. `nil` for none.
        public var contentType: String?

        /// Creates encoded content.
        public init(_ body: TransportRequest.Body, contentType: String?) {
            self.body = body
            self.contentType = contentType
        }

        /// The length of the body.
        public var description: String { "\(body)" }
    }
}

/// A type that makes a body from a value. See ``RequestContent`` for how to add your own.
public protocol BodyEncoder: Sendable {
    /// Returns the body and its type.
    /// - Throws: ``NetworkError``, which names what can't be encoded, or an error of its own, which reaches the caller
    ///   unchanged. Nothing has been sent then.
    func encode() throws -> RequestContent.Encoded
}

extension RequestContent {
    /// Creates content of bytes, which are sent unchanged.
    /// - Parameters:
    ///   - bytes: The body.
    ///   - contentType: The Content-Type; `nil` sends none.
    public static func bytes(_ bytes: Data, contentType: String? = "application/octet-stream") -> RequestContent {
        body(.bytes(bytes), contentType: contentType)
    }

    /// Creates content of a text, as UTF-8.
    public static func text(_ text: String, contentType: String? = "text/plain; charset=utf-8") -> RequestContent {
        bytes(Data(text.utf8), contentType: contentType)
    }

    /// Creates content of a file, which is read while it is sent. A file that can't be read fails the request with
    /// ``NetworkError/Code/unreadableFile``.
    public static func file(_ path: String, contentType: String? = "application/octet-stream") -> RequestContent {
        RequestContent { _ in Encoded(try .file(path), contentType: contentType) }
    }

    /// Creates content of a sequence of chunks, which is read once, while it is sent; see
    /// ``TransportRequest/Body/stream(_:length:)``.
    public static func stream<Chunks: AsyncSequence & Sendable>(
        _ chunks: Chunks,
        length: Int? = nil,
        contentType: String? = "application/octet-stream"
    ) -> RequestContent where Chunks.Element == Data {
        body(.stream(chunks, length: length), contentType: contentType)
    }

    /// Creates content of a body that exists already.
    public static func body(_ body: TransportRequest.Body, contentType: String?) -> RequestContent {
        RequestContent { _ in Encoded(body, contentType: contentType) }
    }

    /// Creates content of parameters as an HTML form: `application/x-www-form-urlencoded`, sorted by name.
    /// - Parameters:
    ///   - parameters: The fields. A field that can't be encoded fails the request with
    ///     ``NetworkError/Code/invalidParameters``, which names it, and so does a form of more than 64 MiB.
    ///   - conventions: The way lists, objects, booleans and dates are written. Default: `nil`, for the request's
    ///     (``RequestData/conventions``).
    public static func form(
        _ parameters: [String: ParameterValue],
        conventions: RequestData.Conventions? = nil
    ) -> RequestContent {
        RequestContent { defaults in
            let encoder = QueryEncoder(
                conventions: conventions ?? defaults.conventions, limit: .form, escape: PercentEncoding.formComponent)
            let text = try encoder.encode(parameters)
            return Encoded(.bytes(Data(text.utf8)), contentType: "application/x-www-form-urlencoded")
        }
    }
}
