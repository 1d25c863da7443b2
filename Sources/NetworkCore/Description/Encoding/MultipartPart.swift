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

    /// Returns the part's head, without the boundary before it.
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

    /// The text that separates the parts of a multipart body.
    enum Boundary {
        /// Returns a new boundary: a fixed prefix and 40 hexadecimal digits from the system's random numbers.
        @Sendable static func random() -> String {
            var generator = SystemRandomNumberGenerator()
            return random(using: &generator)
        }

        /// Returns a new boundary from a generator, such as a seeded one.
        static func random(using generator: inout some RandomNumberGenerator) -> String {
            let digits = (0..<40).map { _ in String(Int.random(in: 0...15, using: &generator), radix: 16) }
            return "NetworkLayer-" + digits.joined()
        }

        /// The limit on the boundaries that are generated when each occurs in a part.
        static let attempts = 8

        /// Returns a boundary that does not occur in the known bytes.
        static func make(_ generate: () -> String, avoiding parts: [Data]) throws -> String {
            for _ in 0..<attempts {
                let boundary = generate()
                try check(boundary)
                if !parts.contains(where: { occurs(Array(boundary.utf8), in: $0) }) { return boundary }
            }
            throw NetworkError.refused(.invalidParameters, "each of \(attempts) multipart boundaries occurs in a part")
        }

        private static func occurs(_ boundary: [UInt8], in part: Data) -> Bool {
            let bytes = part.span
            guard bytes.count >= boundary.count else { return false }
            for start in 0...(bytes.count - boundary.count) where bytes[start] == boundary[0] {
                if boundary.indices.allSatisfy({ bytes[start + $0] == boundary[$0] }) { return true }
            }
            return false
        }

        /// Checks a boundary by RFC 2046 §5.1.1, without the characters that would need quotes in Content-Type.
        private static func check(_ boundary: String) throws {
            let isPlain = boundary.utf8.allSatisfy { $0.isLetterOrDigit || "-_.'+".utf8.contains($0) }
            guard isPlain, (1...70).contains(boundary.utf8.count) else {
                throw NetworkError.refused(
                    .invalidParameters, "a multipart boundary must have 1 to 70 letters, digits or -_.'+")
            }
        }
    }
}
