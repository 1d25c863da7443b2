/// One JSON value. Numbers keep their digits and objects their order, so that a value can be written as it was read.
public enum JSONValue: Sendable, Equatable {
    case null
    case bool(Bool)
    case number(String)
    case string(String)
    case array([JSONValue])
    case object([Member])

    /// One key of an object, with its value.
    public struct Member: Sendable, Equatable {
        /// The key, without its quotes and escapes.
        public var key: String
        /// The value.
        public var value: JSONValue

        /// Creates a member of an object.
        public init(_ key: String, _ value: JSONValue) {
            self.key = key
            self.value = value
        }
    }

    /// Returns a whole number.
    public static func integer(_ value: Int) -> JSONValue { .number(String(value)) }

    /// Returns a number rounded to three digits after the decimal point, or `null` if the value is not finite.
    public static func decimal(_ value: Double) -> JSONValue {
        let rounded = (value * 1000).rounded() / 1000
        return rounded.isFinite ? .number("\(rounded)") : .null
    }

    /// Returns a string, or `null` for `nil`.
    public static func text(_ value: String?) -> JSONValue { value.map { .string($0) } ?? .null }

    /// The number as an `Int`, if it is whole and fits: `10`, and also `1e1`.
    public var wholeNumber: Int? {
        guard case .number(let digits) = self else { return nil }
        return Int(digits) ?? Double(digits).flatMap { Int(exactly: $0) }
    }

    /// The kind of the value, with its article, for error messages.
    public var kind: String {
        switch self {
        case .null: "null"
        case .bool: "a boolean"
        case .number: "a number"
        case .string: "a string"
        case .array: "an array"
        case .object: "an object"
        }
    }

    /// The value as one line of JSON in UTF-8, without a line ending.
    public var line: [UInt8] {
        var output: [UInt8] = []
        append(to: &output)
        return output
    }

    private func append(to output: inout [UInt8]) {
        switch self {
        case .null: output += "null".utf8
        case .bool(let value): output += (value ? "true" : "false").utf8
        case .number(let digits): output += digits.utf8
        case .string(let text): Self.append(text, to: &output)
        case .array(let values):
            output.append(UInt8(ascii: "["))
            for (index, value) in values.enumerated() {
                if index > 0 { output.append(UInt8(ascii: ",")) }
                value.append(to: &output)
            }
            output.append(UInt8(ascii: "]"))
        case .object(let members):
            output.append(UInt8(ascii: "{"))
            for (index, member) in members.enumerated() {
                if index > 0 { output.append(UInt8(ascii: ",")) }
                Self.append(member.key, to: &output)
                output.append(UInt8(ascii: ":"))
                member.value.append(to: &output)
            }
            output.append(UInt8(ascii: "}"))
        }
    }

    /// Appends a string. C0 and C1 control characters and direction marks are escaped, because a terminal that shows
    /// the line would act on them.
    private static func append(_ text: String, to output: inout [UInt8]) {
        output.reserveCapacity(output.count + text.utf8.count + 2)
        output.append(UInt8(ascii: "\""))
        if text.unicodeScalars.contains(where: { $0.value >= 0x80 && $0.isInvisible }) {
            for scalar in text.unicodeScalars {
                if scalar.value >= 0x80, scalar.isInvisible {
                    for unit in String(scalar).utf16 { output += escape(unit) }
                } else {
                    for byte in String(scalar).utf8 { append(byte, to: &output) }
                }
            }
        } else {
            for byte in text.utf8 { append(byte, to: &output) }
        }
        output.append(UInt8(ascii: "\""))
    }

    private static func append(_ byte: UInt8, to output: inout [UInt8]) {
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"): output += [UInt8(ascii: "\\"), byte]
        case UInt8(ascii: "\n"): output += "\\n".utf8
        case UInt8(ascii: "\r"): output += "\\r".utf8
        case UInt8(ascii: "\t"): output += "\\t".utf8
        case ..<0x20, 0x7F: output += escape(UInt16(byte))
        default: output.append(byte)
        }
    }

    private static func escape(_ unit: UInt16) -> [UInt8] {
        let digits = String(unit, radix: 16)
        return Array("\\u\(String(repeating: "0", count: 4 - digits.count))\(digits)".utf8)
    }
}

extension Unicode.Scalar {
    /// Whether a terminal would act on the character; the same as in the core.
    fileprivate var isInvisible: Bool {
        switch value {
        case 0..<0x20, 0x7F...0x9F, 0x061C, 0x200E, 0x200F, 0x2028...0x202E, 0x2066...0x2069, 0xFEFF, 0xE0000...0xE007F:
            true
        default: false
        }
    }
}
