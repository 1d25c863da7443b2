/// One JSON value. Numbers keep their digits and objects their order, so that a value can be written as it was read.
package enum JSONValue: Sendable, Equatable {
    case null
    case bool(Bool)
    case number(String)
    case string(String)
    case array([JSONValue])
    case object([Member])

    /// One key of an object, with its value.
    package struct Member: Sendable, Equatable {
        package var key: String
        package var value: JSONValue

        package init(_ key: String, _ value: JSONValue) {
            self.key = key
            self.value = value
        }
    }
}

extension JSONValue {
    /// Returns a whole number.
    package static func integer(_ value: Int) -> JSONValue { .number(String(value)) }

    /// Returns a number rounded to three digits after the decimal point, or `null` if the value is not finite.
    package static func decimal(_ value: Double) -> JSONValue {
        let rounded = (value * 1000).rounded() / 1000
        return rounded.isFinite ? .number("\(rounded)") : .null
    }

    /// Returns a string, or `null` for `nil`.
    package static func text(_ value: String?) -> JSONValue { value.map { .string($0) } ?? .null }

    /// The number as an `Int`, if it is whole and fits: `10`, and also `1e1`.
    package var wholeNumber: Int? {
        guard case .number(let digits) = self else { return nil }
        return Int(digits) ?? Double(digits).flatMap { Int(exactly: $0) }
    }

    /// The kind of the value, with its article, for error messages.
    package var kind: String {
        switch self {
        case .null: "null"
        case .bool: "a boolean"
        case .number: "a number"
        case .string: "a string"
        case .array: "an array"
        case .object: "an object"
        }
    }
}
