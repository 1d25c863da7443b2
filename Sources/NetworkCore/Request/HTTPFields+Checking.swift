public import HTTPTypes

extension HTTPFields {
    /// Header fields from names and values as people write them, sorted by name.
    /// - Throws: ``NetworkError`` with ``NetworkError/Code/invalidHeader`` that names the field and what is wrong: a name
    ///   that is not a token, a value with CR, LF or NUL, the same name twice in different case.
    public init(checking headers: [String: String]) throws {
        self.init()
        for (name, value) in headers.sorted(by: { $0.key < $1.key }) {
            let field = try HTTPField(checking: name, value: value)
            guard !contains(field.name) else {
                throw NetworkError.invalidHeader(name, "is given twice, in different case")
            }
            append(field)
        }
    }
}

extension HTTPField {
    /// One header field from a name and a value as people write them.
    ///
    /// White space around the value is not part of it (RFC 9110 §5.5) and is dropped.
    /// - Throws: ``NetworkError`` with ``NetworkError/Code/invalidHeader``.
    public init(checking name: String, value: String) throws {
        guard let fieldName = HTTPField.Name(name) else {
            throw NetworkError.invalidHeader(name, "has a name that is not a token (RFC 9110 §5.1)")
        }
        for (offset, byte) in value.utf8.enumerated() where byte < 0x20 && byte != 0x09 || byte == 0x7F {
            let names: [UInt8: String] = [0: "NUL", 0x0A: "LF", 0x0D: "CR"]
            let shown = names[byte] ?? "control character 0x\(String(byte, radix: 16, uppercase: true))"
            throw NetworkError.invalidHeader(name, "has \(shown) in its value, at byte \(offset)")
        }
        guard value.utf8.count <= 65_536 else {
            throw NetworkError.invalidHeader(name, "has a value of \(value.utf8.count) bytes; at most 65536 are sent")
        }
        let isSpace: (Character) -> Bool = { $0 == " " || $0 == "\t" }
        let trimmed = value.drop(while: isSpace)
        let end = trimmed.lastIndex { !isSpace($0) }.map { trimmed.index(after: $0) } ?? trimmed.startIndex
        self.init(name: fieldName, value: String(trimmed[..<end]))
    }
}

extension NetworkError {
    fileprivate static func invalidHeader(_ name: String, _ problem: String) -> NetworkError {
        let shown = name.unicodeScalars.prefix(64).map { $0.escaped(asASCII: true) }.joined()
        return NetworkError(.invalidHeader, "the header field '\(shown)' \(problem)", phase: .preparing)
    }
}

extension HTTPRequest.Method {
    /// A method from a name as people write it.
    /// - Throws: ``NetworkError`` with ``NetworkError/Code/invalidMethod`` when it is not a token (RFC 9110 §9.1).
    public init(checking name: String) throws {
        guard let method = HTTPRequest.Method(rawValue: name) else {
            let shown = name.unicodeScalars.prefix(64).map { $0.escaped(asASCII: true) }.joined()
            throw NetworkError(
                .invalidMethod,
                "the method '\(shown)' is not a token (RFC 9110 §9.1)",
                phase: .preparing
            )
        }
        self = method
    }
}
