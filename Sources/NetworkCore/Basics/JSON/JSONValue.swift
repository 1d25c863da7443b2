/// One JSON value. Numbers keep their digits and objects their order, so that what came in can go out as it was.
package enum JSONValue: Sendable, Equatable {
    case null
    case bool(Bool)
    case number(String)
    case string(String)
    case array([JSONValue])
    case object([Member])

    /// One key of an object with its value.
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
    /// A whole number.
    package static func integer(_ value: Int) -> JSONValue { .number(String(value)) }

    /// A number with at most three digits after the point; `null` if it is not finite.
    package static func decimal(_ value: Double) -> JSONValue {
        let rounded = (value * 1000).rounded() / 1000
        return rounded.isFinite ? .number("\(rounded)") : .null
    }

    /// A text, or `null`.
    package static func text(_ value: String?) -> JSONValue { value.map { .string($0) } ?? .null }

    /// The number as an `Int`, if it is a whole one that fits: `10`, and `1e1` as well.
    package var wholeNumber: Int? {
        guard case .number(let digits) = self else { return nil }
        return Int(digits) ?? Double(digits).flatMap { Int(exactly: $0) }
    }

    /// What kind of value it is, for errors.
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
