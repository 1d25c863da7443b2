/// One JSON value. Numbers keep their digits and objects their order, so that what came in can go out as it was.
enum JSONValue: Sendable, Equatable {
    case null
    case bool(Bool)
    case number(String)
    case string(String)
    case array([JSONValue])
    case object([Member])

    /// One key of an object with its value.
    struct Member: Sendable, Equatable {
        var key: String
        var value: JSONValue

        init(_ key: String, _ value: JSONValue) {
            self.key = key
            self.value = value
        }
    }
}

extension JSONValue {
    /// A whole number.
    static func integer(_ value: Int) -> JSONValue { .number(String(value)) }

    /// A number with at most three digits after the point; `null` if it is not finite.
    static func decimal(_ value: Double) -> JSONValue {
        let rounded = (value * 1000).rounded() / 1000
        return rounded.isFinite ? .number("\(rounded)") : .null
    }

    /// A text, or `null`.
    static func text(_ value: String?) -> JSONValue { value.map { .string($0) } ?? .null }

    /// The number as an `Int`, if it is a whole one that fits: `10`, and `1e1` as well.
    var wholeNumber: Int? {
        guard case .number(let digits) = self else { return nil }
        return Int(digits) ?? Double(digits).flatMap { Int(exactly: $0) }
    }

    /// What kind of value it is, for errors.
    var kind: String {
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
