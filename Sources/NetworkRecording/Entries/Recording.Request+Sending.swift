public import NetworkCore

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
                .notRecorded, "\(body.omitted) bytes of the request's body were not recorded", phase: .preparing)
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
