public import FoundationEssentials

/// One part of a multipart form: a field, or a file.
public struct MultipartPart: Sendable, SafelyPrinted {
    /// The field's name.
    public var name: String
    /// The file's name, if the part is a file.
    public var fileName: String?
    /// The part's own Content-Type; `nil` for none, which means text.
    public var contentType: String?
    let body: @Sendable () throws -> TransportRequest.Body

    /// Creates a part with any body.
    ///
    /// In both names, CR, LF, `"` and `\` are percent-encoded: the first three as in HTML, the last because some
    /// servers treat it as an escape. Other control characters are refused when the request is sent, with
    /// ``NetworkError/Code/invalidParameters``.
    public init(name: String, body: TransportRequest.Body, fileName: String? = nil, contentType: String? = nil) {
        self.init(name: name, fileName: fileName, contentType: contentType) { body }
    }

    private init(
        name: String,
        fileName: String?,
        contentType: String?,
        body: @escaping @Sendable () throws -> TransportRequest.Body
    ) {
        self.name = name
        self.fileName = fileName
        self.contentType = contentType
        self.body = body
    }

    /// Creates a text field, as UTF-8.
    public static func field(_ name: String, _ value: String) -> MultipartPart {
        MultipartPart(name: name, body: .bytes(Data(value.utf8)))
    }

    /// Creates a part of bytes in memory.
    /// - Parameters:
    ///   - name: The field's name.
    ///   - bytes: The bytes.
    ///   - fileName: The file name that is sent; `nil`, the default, for none.
    ///   - contentType: The part's type; `nil` for none. Default: `application/octet-stream`.
    public static func bytes(
        _ name: String,
        _ bytes: Data,
        fileName: String? = nil,
        contentType: String? = "application/octet-stream"
    ) -> MultipartPart {
        MultipartPart(name: name, body: .bytes(bytes), fileName: fileName, contentType: contentType)
    }

    /// Creates a part of a file on the disk, which is read while it is sent. A file that can't be read fails the
    /// request with ``NetworkError/Code/unreadableFile``.
    /// - Parameters:
    ///   - name: The field's name.
    ///   - path: The path of the file.
    ///   - fileName: The file name that is sent. Default: the last part of the path.
    ///   - contentType: The part's type; `nil` for none. Default: `application/octet-stream`.
    public static func file(
        _ name: String,
        path: String,
        fileName: String? = nil,
        contentType: String? = "application/octet-stream"
    ) -> MultipartPart {
        let shown = fileName ?? path.split(atByte: UInt8(ascii: "/")).last { !$0.isEmpty }.map(String.init) ?? path
        return MultipartPart(name: name, fileName: shown, contentType: contentType) { try .file(path) }
    }

    /// Creates a part of a sequence of chunks, which is read once, while it is sent.
    /// - Parameters:
    ///   - name: The field's name.
    ///   - chunks: The bytes.
    ///   - length: The number of bytes in all; `nil`, the default, if it is unknown.
    ///   - fileName: The file name that is sent; `nil`, the default, for none.
    ///   - contentType: The part's type; `nil` for none. Default: `application/octet-stream`.
    public static func stream<Chunks: AsyncSequence & Sendable>(
        _ name: String,
        _ chunks: Chunks,
        length: Int? = nil,
        fileName: String? = nil,
        contentType: String? = "application/octet-stream"
    ) -> MultipartPart where Chunks.Element == Data {
        MultipartPart(
            name: name,
            body: .stream(chunks, length: length),
            fileName: fileName,
            contentType: contentType
        )
    }

    func head() throws -> Data {
        var head = "Content-Disposition: form-data; name=\"\(try Self.quoted(name, of: "name"))\""
        if let fileName { head += "; filename=\"\(try Self.quoted(fileName, of: "file name"))\"" }
        head += "\r\n"
        if let contentType {
            head += "Content-Type: \(try HTTPField(checking: "Content-Type", value: contentType).value)\r\n"
        }
        return Data((head + "\r\n").utf8)
    }

    private static func quoted(_ text: String, of what: String) throws -> String {
        try text.unicodeScalars.reduce(into: "") { output, scalar in
            switch scalar {
            case "\"": output += "%22"
            case "\\": output += "%5C"
            case "\r": output += "%0D"
            case "\n": output += "%0A"
            case _ where scalar.value < 0x20 || scalar.value == 0x7F:
                // The name is not shown: names come from users as often as values do.
                let byte = text.utf8.prefix { $0 != UInt8(ascii: scalar) }.count
                throw NetworkError.refused(
                    .invalidParameters, "the \(what) of a part has a control character at byte \(byte)")
            default: output.unicodeScalars.append(scalar)
            }
        }
    }

    /// Returns a new boundary: a fixed prefix and 40 hexadecimal digits from the system's random numbers. By chance it
    /// occurs in a file with a probability below 1 in 2^128 for each byte.
    static func randomBoundary() -> String {
        "NetworkLayer-" + (0..<40).map { _ in String(Int.random(in: 0...15), radix: 16) }.joined()
    }

    /// Checks a caller's boundary by RFC 2046 §5.1.1, without the characters that would need quotes in Content-Type.
    static func check(boundary: String, of parts: [Data]) throws {
        let isPlain = boundary.utf8.allSatisfy { $0.isLetterOrDigit || "-_.'+".utf8.contains($0) }
        guard isPlain, (1...70).contains(boundary.utf8.count) else {
            throw NetworkError.refused(
                .invalidParameters, "a multipart boundary must have 1 to 70 letters, digits or -_.'+")
        }
        guard !parts.contains(where: { $0.firstRange(of: Data(boundary.utf8)) != nil }) else {
            throw NetworkError.refused(.invalidParameters, "the multipart boundary occurs in a part")
        }
    }
}

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
    ///   - boundary: Returns the boundary. Default: 40 random hexadecimal digits behind `NetworkLayer-`. One that
    ///     occurs in a part of known bytes is ``NetworkError/Code/invalidParameters``.
    public static func multipart(
        _ parts: [MultipartPart],
        boundary: (@Sendable () -> String)? = nil
    ) -> RequestContent {
        RequestContent { _ in
            let bodies = try parts.map { try $0.body() }
            let own = boundary?()
            if let own { try MultipartPart.check(boundary: own, of: bodies.compactMap(\.knownBytes)) }
            let boundary = own ?? MultipartPart.randomBoundary()
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
