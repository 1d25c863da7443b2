public import FoundationEssentials

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
                conventions ?? defaults.conventions, limit: .form, escape: PercentEncoding.formComponent)
            let text = try encoder.encode(parameters)
            return Encoded(.bytes(Data(text.utf8)), contentType: "application/x-www-form-urlencoded")
        }
    }
}
