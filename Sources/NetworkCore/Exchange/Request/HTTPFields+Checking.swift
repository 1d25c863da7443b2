public import HTTPTypes

extension HTTPFields {
    /// Creates header fields from names and values as people write them, sorted by name.
    /// - Throws: ``NetworkError`` with ``NetworkError/Code/invalidHeaderField``, which names the field and the problem:
    ///   a name that is not a token, a value with a control character or more than 65,536 bytes, the same name twice in
    ///   different case, or more fields than a request can have (``TransportRequest/maximumHeaderBytes``).
    public init(checking fields: [String: String]) throws {
        self.init()
        var names: Set<String> = []
        for (name, value) in fields.sorted(by: { $0.key < $1.key }) {
            try append(checking: name, value: value)
            let canonical = self[endIndex - 1].name.canonicalName
            guard names.insert(canonical).inserted else {
                throw NetworkError.invalidHeaderField(name, "is given twice, in different case")
            }
        }
    }

    /// Appends a field with a name and a value as people write them.
    /// - Throws: ``NetworkError`` with ``NetworkError/Code/invalidHeaderField``, for more fields than a request can
    ///   have too: `HTTPFields` itself traps beyond 65,534.
    public mutating func append(checking name: String, value: String) throws {
        guard count < Self.maximumFields else {
            throw NetworkError.invalidHeaderField(name, "is one of more than the \(Self.maximumFields) of any request")
        }
        append(try HTTPField(checking: name, value: value))
    }

    static let maximumFields = TransportRequest.maximumHeaderBytes / 5

    /// Checks fields that are to follow a body.
    /// - Throws: ``NetworkError/Code/invalidHeaderField``.
    func checkAsTrailers() throws {
        var bytes = 0
        for field in self {
            try field.checkValue()
            let name = field.name.canonicalName
            guard !Self.neverTrailers.contains(name), !name.hasPrefix("if-") else {
                throw NetworkError.invalidHeaderField(
                    field.name.rawName, "can't be a trailer field: it is read before the body (RFC 9110 §6.5.1)")
            }
            bytes += field.name.rawName.utf8.count + field.value.utf8.count + 4
        }
        let limit = TransportRequest.maximumHeaderBytes
        guard bytes <= limit else {
            throw NetworkError.refused(
                .invalidHeaderField, "the trailer fields have \(bytes) bytes together; at most \(limit) are sent")
        }
    }

    /// The fields that frame, route, authenticate or describe a message.
    private static let neverTrailers: Set<String> = [
        "age", "authorization", "cache-control", "connection", "content-encoding", "content-length", "content-range",
        "content-type", "cookie", "date", "expect", "expires", "host", "keep-alive", "location", "max-forwards",
        "pragma", "proxy-authorization", "proxy-connection", "range", "retry-after", "set-cookie", "te", "trailer",
        "transfer-encoding", "upgrade", "vary", "warning",
    ]

    /// Returns the body's length that the head announces, or `nil` if it announces none.
    package func announcedLength() throws(NetworkError) -> Int? {
        var announced: Int?
        for field in self[values: .contentLength] {
            for text in field.split(atByte: UInt8(ascii: ",")) {
                guard let length = Int(asciiDigits: text.withoutBlanks.utf8) else {
                    throw .invalidLength("its Content-Length is not a number that can be used")
                }
                guard announced ?? length == length else {
                    throw .invalidLength("it has two different Content-Length values")
                }
                announced = length
            }
        }
        return announced
    }
}

extension HTTPField {
    /// Creates a header field from a name and a value as people write them.
    ///
    /// Spaces and tabs around the value are not part of it and are removed
    /// ([RFC 9110 §5.5](https://www.rfc-editor.org/rfc/rfc9110#section-5.5)).
    /// - Throws: ``NetworkError`` with ``NetworkError/Code/invalidHeaderField``.
    public init(checking name: String, value: String) throws {
        guard let fieldName = HTTPField.Name(name) else {
            throw NetworkError.invalidHeaderField(name, "has a name that is not a token (RFC 9110 §5.1)")
        }
        if let problem = Self.problem(withValue: value) { throw NetworkError.invalidHeaderField(name, problem) }
        self.init(name: fieldName, value: String(value.withoutBlanks))
    }

    /// Returns the reason why a text can't be a field's value, as the end of a sentence, or `nil` if it can.
    static func problem(withValue value: String) -> String? {
        if let problem = controlCharacter(in: value) { return problem }
        let bytes = value.utf8.count
        return bytes <= maximumValueBytes ? nil : "has a value of \(bytes) bytes; at most \(maximumValueBytes) are sent"
    }

    static let maximumValueBytes = 65_536

    private static func controlCharacter(in value: String) -> String? {
        for (offset, byte) in value.utf8.enumerated() where byte < 0x20 && byte != 0x09 || byte == 0x7F {
            let names: [UInt8: String] = [0: "NUL", 0x0A: "LF", 0x0D: "CR"]
            let shown = names[byte] ?? "control character 0x\(String(byte, radix: 16, uppercase: true))"
            return "has \(shown) in its value, at byte \(offset)"
        }
        return nil
    }

    /// Checks a field that was created with `HTTPField(name:value:)`, which accepts any value.
    func checkValue() throws {
        if let problem = Self.problem(withValue: value) { throw NetworkError.invalidHeaderField(name.rawName, problem) }
        // As text, each byte that is not UTF-8 is U+FFFD, which would be sent in its place.
        guard !value.unicodeScalars.contains("\u{FFFD}") || self == HTTPField(name: name, value: value) else {
            throw NetworkError.invalidHeaderField(name.rawName, "has bytes in its value that are not UTF-8")
        }
    }
}

extension HTTPField.Name {
    package static let host = Self("Host")!
}

extension NetworkError {
    static func invalidHeaderField(_ name: String, _ problem: String) -> NetworkError {
        NetworkError.refused(.invalidHeaderField, "the header field '\(Redaction.token(name))' \(problem)")
    }

    fileprivate static func invalidLength(_ reason: String) -> NetworkError {
        NetworkError(.invalidResponse, "the response can't be used: \(reason)", phase: .receiving)
    }
}

extension HTTPRequest.Method {
    /// Creates a method from a name as people write it.
    /// - Throws: ``NetworkError`` with ``NetworkError/Code/invalidMethod`` if the name is not a token
    ///   ([RFC 9110 §9.1](https://www.rfc-editor.org/rfc/rfc9110#section-9.1)).
    public init(checking name: String) throws {
        guard let method = HTTPRequest.Method(rawValue: name) else {
            throw NetworkError.refused(
                .invalidMethod, "the method '\(Redaction.token(name))' is not a token (RFC 9110 §9.1)")
        }
        self = method
    }

    /// Whether a second execution changes nothing more than the first (RFC 9110 §9.2.2).
    package var isIdempotent: Bool {
        switch self {
        case .get, .head, .options, .trace, .put, .delete: true
        default: Self.registered.contains(rawValue)
        }
    }

    private static let registered: Set<String> = ["PROPFIND", "QUERY", "REPORT", "SEARCH"]
}
