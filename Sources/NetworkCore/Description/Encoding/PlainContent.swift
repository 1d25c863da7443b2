public import FoundationEssentials

extension RequestContent {
    /// Bytes as they are.
    /// - Parameters:
    ///   - bytes: The body.
    ///   - type: The Content-Type; `nil` sends none.
    public static func bytes(_ bytes: Data, type: String? = "application/octet-stream") -> RequestContent {
        body(.bytes(bytes), type: type)
    }

    /// A text as UTF-8.
    public static func text(_ text: String, type: String? = "text/plain; charset=utf-8") -> RequestContent {
        bytes(Data(text.utf8), type: type)
    }

    /// A file's contents, read while they are sent. One that can't be read fails the request with
    /// ``NetworkError/Code/unreadableFile``.
    public static func file(_ path: String, type: String? = "application/octet-stream") -> RequestContent {
        RequestContent(PlainContent(type: type) { try .file(path) })
    }

    /// A sequence of chunks, read once, while it is sent; see ``TransportRequest/Body/stream(_:length:)``.
    public static func stream<Chunks: AsyncSequence & Sendable>(
        _ chunks: Chunks,
        length: Int? = nil,
        type: String? = "application/octet-stream"
    ) -> RequestContent where Chunks.Element == Data {
        body(.stream(chunks, length: length), type: type)
    }

    /// A body that is made already.
    public static func body(_ body: TransportRequest.Body, type: String?) -> RequestContent {
        RequestContent(PlainContent(type: type) { body })
    }
}

/// A body as it is.
struct PlainContent: ContentEncoder {
    let type: String?
    let body: @Sendable () throws -> TransportRequest.Body

    func encode() throws -> RequestContent.Encoded { RequestContent.Encoded(try body(), type: type) }
}
