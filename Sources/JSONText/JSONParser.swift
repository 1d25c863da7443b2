/// A strict parser for one JSON text (RFC 8259): no comments, no trailing commas, no lone surrogates. It reads each
/// byte once, whatever the text contains.
public struct JSONParser {
    private let bytes: [UInt8]
    private let allowsRepeatedKeys: Bool
    private var at = 0

    /// The maximum nesting depth of arrays and objects.
    public static let maximumDepth = 64

    /// Returns the value of a text.
    /// - Parameters:
    ///   - bytes: The text, in UTF-8.
    ///   - allowsRepeatedKeys: Whether an object may contain a key more than once.
    /// - Throws: ``JSONProblem``.
    public static func parse(_ bytes: [UInt8], allowsRepeatedKeys: Bool = false) throws -> JSONValue {
        var parser = JSONParser(bytes, allowsRepeatedKeys)
        let value = try parser.value(depth: 0)
        parser.skipSpace()
        if parser.at < bytes.count { throw parser.problem("the text continues after the value") }
        return value
    }

    private init(_ bytes: [UInt8], _ allowsRepeatedKeys: Bool) {
        self.bytes = bytes
        self.allowsRepeatedKeys = allowsRepeatedKeys
    }

    private mutating func value(depth: Int) throws -> JSONValue {
        guard depth <= Self.maximumDepth else { throw problem("nested deeper than \(Self.maximumDepth)") }
        skipSpace()
        switch peek {
        case UInt8(ascii: "{"): return try object(depth: depth)
        case UInt8(ascii: "["): return try array(depth: depth)
        case UInt8(ascii: "\""): return .string(try string())
        case UInt8(ascii: "t"): return try word("true", .bool(true))
        case UInt8(ascii: "f"): return try word("false", .bool(false))
        case UInt8(ascii: "n"): return try word("null", .null)
        case .some(UInt8(ascii: "0")...UInt8(ascii: "9")), UInt8(ascii: "-"): return try number()
        case nil: throw problem("the text ends where a value is expected")
        default: throw problem("a value is expected")
        }
    }

    private mutating func object(depth: Int) throws -> JSONValue {
        at += 1
        var members: [JSONValue.Member] = []
        // By their bytes: for Swift, "é" equals "e" with an accent.
        var keys: Set<[UInt8]> = []
        skipSpace()
        if take(UInt8(ascii: "}")) { return .object([]) }
        while true {
            skipSpace()
            guard peek == UInt8(ascii: "\"") else { throw problem("a key in quotes is expected") }
            let key = try string()
            if !allowsRepeatedKeys, !keys.insert(Array(key.utf8)).inserted {
                throw problem("the key '\(key.shown)' appears twice")
            }
            skipSpace()
            guard take(UInt8(ascii: ":")) else { throw problem("':' is expected") }
            members.append(.init(key, try value(depth: depth + 1)))
            skipSpace()
            if take(UInt8(ascii: "}")) { return .object(members) }
            guard take(UInt8(ascii: ",")) else { throw problem("',' or '}' is expected") }
        }
    }

    private mutating func array(depth: Int) throws -> JSONValue {
        at += 1
        var values: [JSONValue] = []
        skipSpace()
        if take(UInt8(ascii: "]")) { return .array([]) }
        while true {
            values.append(try value(depth: depth + 1))
            skipSpace()
            if take(UInt8(ascii: "]")) { return .array(values) }
            guard take(UInt8(ascii: ",")) else { throw problem("',' or ']' is expected") }
        }
    }

    private mutating func word(_ word: String, _ value: JSONValue) throws -> JSONValue {
        guard bytes[at...].starts(with: word.utf8) else { throw problem("a value is expected") }
        at += word.utf8.count
        return value
    }

    private mutating func number() throws -> JSONValue {
        let start = at
        _ = take(UInt8(ascii: "-"))
        if !take(UInt8(ascii: "0")) { try digits() }
        if take(UInt8(ascii: ".")) { try digits() }
        if take(UInt8(ascii: "e")) || take(UInt8(ascii: "E")) {
            if !take(UInt8(ascii: "+")) { _ = take(UInt8(ascii: "-")) }
            try digits()
        }
        return .number(String(decoding: bytes[start..<at], as: UTF8.self))
    }

    private mutating func digits() throws {
        let start = at
        while let byte = peek, byte >= UInt8(ascii: "0"), byte <= UInt8(ascii: "9") { at += 1 }
        if at == start { throw problem("a digit is expected") }
    }

    private mutating func string() throws -> String {
        at += 1
        var text = ""
        while true {
            let start = at
            while at < bytes.count, bytes[at] >= 0x20, bytes[at] != UInt8(ascii: "\""), bytes[at] != UInt8(ascii: "\\")
            {
                at += 1
            }
            guard let part = String(validating: bytes[start..<at], as: UTF8.self) else {
                throw JSONProblem(message: "a string is not UTF-8", offset: start)
            }
            text += part
            switch peek {
            case UInt8(ascii: "\""):
                at += 1
                return text
            case UInt8(ascii: "\\"):
                at += 1
                text.unicodeScalars.append(try escape())
            case nil: throw problem("the text ends within a string")
            default: throw problem("an unescaped control character in a string")
            }
        }
    }

    private mutating func escape() throws -> Unicode.Scalar {
        guard let byte = peek else { throw problem("the text ends within a string") }
        at += 1
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return Unicode.Scalar(byte)
        case UInt8(ascii: "b"): return "\u{8}"
        case UInt8(ascii: "f"): return "\u{C}"
        case UInt8(ascii: "n"): return "\n"
        case UInt8(ascii: "r"): return "\r"
        case UInt8(ascii: "t"): return "\t"
        case UInt8(ascii: "u"):
            let first = try hexUnit()
            if let scalar = Unicode.Scalar(first) { return scalar }
            guard first < 0xDC00, take(UInt8(ascii: "\\")), take(UInt8(ascii: "u")) else {
                throw problem("half of a surrogate pair")
            }
            let second = try hexUnit()
            guard (0xDC00...0xDFFF).contains(second),
                let scalar = Unicode.Scalar(0x10000 + (UInt32(first - 0xD800) << 10) + UInt32(second - 0xDC00))
            else { throw problem("half of a surrogate pair") }
            return scalar
        default: throw problem("an escape sequence that JSON does not define")
        }
    }

    private mutating func hexUnit() throws -> UInt16 {
        let digits = String(decoding: bytes[at...].prefix(4), as: UTF8.self)
        guard digits.utf8.count == 4, !digits.hasPrefix("+"), !digits.hasPrefix("-"),
            let unit = UInt16(digits, radix: 16)
        else { throw problem("four hexadecimal digits are expected after '\\u'") }
        at += 4
        return unit
    }

    // MARK: Helpers

    private var peek: UInt8? { at < bytes.count ? bytes[at] : nil }

    private mutating func take(_ byte: UInt8) -> Bool {
        guard peek == byte else { return false }
        at += 1
        return true
    }

    private mutating func skipSpace() {
        while let byte = peek, byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D { at += 1 }
    }

    private func problem(_ message: String) -> JSONProblem { JSONProblem(message: message, offset: at) }
}

/// The reason why a text is not JSON, and the place.
public struct JSONProblem: Error, Equatable {
    /// What is wrong, such as `a value is expected`.
    public var message: String
    /// The place in the text, in bytes from its start.
    public var offset: Int

    /// Creates a problem of a text.
    public init(message: String, offset: Int) {
        self.message = message
        self.offset = offset
    }
}

extension String {
    /// The first 64 Unicode scalars of a text with control characters made visible, for an error message.
    public var shown: String {
        let start = unicodeScalars.prefix(64).map { $0.escaped(asASCII: true) }.joined()
        return unicodeScalars.count > 64 ? start + "…" : start
    }
}
