import FoundationEssentials

extension RequestContent {
    /// Creates content of parts as an HTML form with files: `multipart/form-data`
    /// ([RFC 7578](https://www.rfc-editor.org/rfc/rfc7578)), in their order.
    ///
    /// ```swift
    /// RequestData(
    ///     path: "http://127.0.0.1:8080/upload",
    ///     method: .post,
    ///     content: .multipart([
    ///         .field("title", "Holiday"), .file("photo", path: "/sea.jpg", contentType: "image/jpeg"),
    ///     ])
    /// )
    /// ```
    ///
    /// Parts of known bytes alone are joined in memory, and every transport carries them. If there is a file or a
    /// stream among them, the body is produced while it is sent
    /// (``TransportCapabilities/Capability/streamedRequestBodies``). It has a Content-Length if the length of each part
    /// is known, and can be sent again if each part can.
    /// - Parameters:
    ///   - parts: The parts; none make an empty form.
    ///   - boundary: Returns the boundary. Default: 40 random hexadecimal digits behind `NetworkLayer-`. It is called
    ///     again, up to 8 times in all, while its result occurs in a part of known bytes.
    public static func multipart(
        _ parts: [MultipartPart],
        boundary: (@Sendable () -> String)? = nil
    ) -> RequestContent {
        RequestContent { _ in
            let bodies = try parts.map { try $0.body() }
            let boundary = try MultipartPart.Boundary.make(
                boundary ?? MultipartPart.Boundary.random, avoiding: bodies.compactMap(\.knownBytes))
            var pieces: [TransportRequest.Body] = []
            for (part, body) in zip(parts, bodies) {
                let separator = pieces.isEmpty ? "" : "\r\n"
                pieces.append(.bytes(Data("\(separator)--\(boundary)\r\n".utf8) + (try part.head())))
                pieces.append(body)
            }
            pieces.append(.bytes(Data("\(pieces.isEmpty ? "" : "\r\n")--\(boundary)--\r\n".utf8)))
            return Encoded(try .joined(pieces), contentType: "multipart/form-data; boundary=\(boundary)")
        }
    }
}

extension TransportRequest.Body {
    /// Returns several bodies as one, in their order.
    static func joined(_ pieces: [TransportRequest.Body]) throws -> TransportRequest.Body {
        let known = pieces.compactMap(\.knownBytes)
        if known.count == pieces.count { return .bytes(known.reduce(into: Data()) { $0 += $1 }) }
        let lengths = pieces.compactMap(\.length)
        let total = try lengths.reduce(0) { total, length in
            let (sum, isTooLarge) = total.addingReportingOverflow(length)
            guard !isTooLarge else {
                throw NetworkError.refused(.invalidParameters, "the sum of the parts' lengths is too large")
            }
            return sum
        }
        return TransportRequest.Body(
            content: .produced(
                BodyProducer(
                    length: lengths.count == pieces.count ? total : nil,
                    isReplayable: pieces.allSatisfy(\.isReplayable)
                ) { deliver in
                    for piece in pieces {
                        switch piece.content {
                        case .bytes(let bytes): try await deliver(bytes)
                        case .produced(let producer): try await producer.runExactly(deliver)
                        }
                    }
                }
            )
        )
    }
}
