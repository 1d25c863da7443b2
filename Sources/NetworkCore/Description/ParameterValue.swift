public import FoundationEssentials

/// A parameter: any value that JSON can hold.
///
/// It is rarely written by name, since literals create it:
///
/// ```swift
/// RequestData(path: "http://127.0.0.1:8080/test",
///             parameters: ["page": 1, "q": nil, "tags": ["a"], "nested": ["deep": [true, 2.5, "x"]]])
/// ```
@nonexhaustive
public enum ParameterValue: Sendable, Hashable {
    /// `null` in JSON; left out of a query.
    case null
    /// `true` or `false`.
    case bool(Bool)
    /// A whole number.
    case int(Int)
    /// A whole number above `Int.max`.
    case unsigned(UInt64)
    /// A number with a fraction. Infinity and NaN are refused when the request is sent.
    case double(Double)
    /// A number with more digits than a `Double` keeps, or one that a `Double` writes with an exponent.
    case decimal(Decimal)
    /// A text.
    case string(String)
    /// A date, written by ``RequestData/Conventions/dates``. Years 1 to 9999.
    case date(Date)
    /// A list.
    case array([ParameterValue])
    /// An object.
    case object([String: ParameterValue])
    /// A value of a type that JSON can't hold. Sending it fails with ``NetworkError/Code/invalidParameters``, which
    /// names the parameter and this type.
    case unencodable(type: String)

    /// The limit on the nesting of arrays and objects.
    public static let maximumDepth = 64

    /// Creates a parameter from any value: numbers, texts, booleans, `Date`, `URL`, `UUID`, `Decimal`, optionals,
    /// arrays and string-keyed dictionaries of them, and Foundation's classes for these. A 1 that `JSONSerialization`
    /// has read is a number, and its `true` is a boolean. Anything else becomes ``unencodable(type:)``.
    public init(_ value: Any?) { self.init(value, depth: 0) }

    private init(_ value: Any?, depth: Int) {
        guard let value else {
            self = .null
            return
        }
        guard depth <= Self.maximumDepth else {
            self = .unencodable(type: "a value nested deeper than \(Self.maximumDepth)")
            return
        }
        switch value {
        // These go first, since a cast looks through both, and through a class.
        case let value as any OptionalValue: self.init(value.wrappedValue, depth: depth)
        case let hashable as AnyHashable where Swift.type(of: value) == AnyHashable.self:
            self.init(hashable.base, depth: depth)
        case let value where Swift.type(of: value) is AnyClass: self.init(object: value, depth: depth)
        default: self.init(plain: value, depth: depth)
        }
    }

    private init(plain value: Any, depth: Int) {
        switch value {
        case let value as ParameterValue: self = value
        case let value as String: self = .string(value)
        case let value as Substring: self = .string(String(value))
        case let value as Character: self = .string(String(value))
        case let value as Bool: self = .bool(value)
        case let value as Int: self = .int(value)
        case let value as any BinaryInteger: self = .init(wholeNumber: value)
        case let value as Double: self = .double(value)
        // From its digits: 0.1 as a `Float` must not become 0.10000000149.
        case let value as any BinaryFloatingPoint: self = .double(Double("\(value)") ?? Double(value))
        case let value as Date: self = .date(value)
        case let value as URL: self = .string(value.absoluteString)
        case let value as UUID: self = .string(value.uuidString)
        case let value as Decimal: self = .init(decimal: value)
        case let value as [Any?]: self = .array(value.map { Self($0, depth: depth + 1) })
        case let value as [String: Any?]: self = .object(value.mapValues { Self($0, depth: depth + 1) })
        default: self = .unencodable(type: TypeName.of(Swift.type(of: value)))
        }
    }

    /// Creates a parameter from an object of full Foundation, which this module does not link. A number can be cast to
    /// any type that holds it, even to a boolean, so its text decides.
    private init(object value: Any, depth: Int) {
        let type = String(reflecting: Swift.type(of: value))
        if type.hasSuffix(".NSNull") {
            self = .null
        } else if type.hasSuffix(".__NSCFBoolean"), let flag = value as? Bool {
            self = .bool(flag)
        } else if let decimal = value as? Decimal {
            self = .init(decimal: decimal)
        } else if value is Double || value is UInt64 {
            let text = "\(value)"
            self =
                Int(text).map { .int($0) } ?? UInt64(text).map { .unsigned($0) } ?? Double(text).map { .double($0) }
                ?? .unencodable(type: type)
        } else {
            self.init(plain: value, depth: depth)
        }
    }

    private init(decimal value: Decimal) {
        // All digits and no exponent, unlike the text of a `Double`: `3`, not `3.0`.
        let text = "\(value)"
        guard let double = Double(text) else {
            self = .unencodable(type: "Decimal")
            return
        }
        let short = "\(double)"
        if let int = Int(text) {
            self = .int(int)
        } else if let unsigned = UInt64(text) {
            self = .unsigned(unsigned)
        } else if !double.isFinite || (!short.contains(byte: UInt8(ascii: "e")) && Decimal(string: short) == value) {
            self = .double(double)
        } else {
            self = .decimal(value)
        }
    }

    private init(wholeNumber value: any BinaryInteger) {
        if let int = Int(exactly: value) {
            self = .int(int)
        } else if let unsigned = UInt64(exactly: value) {
            self = .unsigned(unsigned)
        } else {
            self = .unencodable(type: "\(type(of: value)) beyond 64 bits")
        }
    }

    /// The plain Swift value, for `JSONSerialization` and `as? Int`.
    public var plainValue: (any Sendable)? {
        switch self {
        case .null, .unencodable: nil
        case .bool(let value): value
        case .int(let value): value
        case .unsigned(let value): value
        case .double(let value): value
        case .decimal(let value): value
        case .string(let value): value
        case .date(let value):
            firstProblem(at: "") == nil ? RequestData.Conventions.Dates.iso8601.value(of: value).plainValue : nil
        case .array(let values): values.map(\.plainValue)
        case .object(let values): values.mapValues(\.plainValue)
        }
    }

    func firstProblem(at path: String) -> NetworkError? {
        firstProblem(depth: 0).map { .invalidParameter(path + $0.place, $0.words) }
    }

    /// Returns the place of the first problem below this value, and what it is.
    private func firstProblem(depth: Int) -> (place: String, words: String)? {
        guard depth <= Self.maximumDepth else { return ("", "is nested deeper than \(Self.maximumDepth)") }
        switch self {
        case .unencodable(let type):
            return (
                "", "has the type \(type), which is no parameter; to send a value of your own, write content: .json(…)"
            )
        case .double(let value) where !value.isFinite: return ("", "is \(value), not a number in JSON")
        case .decimal(let value) where !value.isFinite: return ("", "is \(value), not a number in JSON")
        case .date(let value) where !RequestData.Conventions.Dates.range.contains(value):
            return ("", "is a date outside the years 1 to 9999")
        case .array(let values):
            for (index, value) in values.enumerated() {
                if let (place, words) = value.firstProblem(depth: depth + 1) { return ("[\(index)]\(place)", words) }
            }
            return nil
        case .object(let values):
            for (key, value) in values.sorted(by: { $0.key < $1.key }) {
                if let (place, words) = value.firstProblem(depth: depth + 1) { return (".\(key)\(place)", words) }
            }
            return nil
        default: return nil
        }
    }
}

extension ParameterValue: ExpressibleByNilLiteral, ExpressibleByBooleanLiteral, ExpressibleByIntegerLiteral,
    ExpressibleByFloatLiteral, ExpressibleByStringLiteral, ExpressibleByStringInterpolation,
    ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
    /// Creates ``null`` from `nil`.
    public init(nilLiteral: ()) { self = .null }
    /// Creates a boolean from a literal: `true`.
    public init(booleanLiteral value: Bool) { self = .bool(value) }
    /// Creates a whole number from a literal: `1`.
    public init(integerLiteral value: Int) { self = .int(value) }
    /// Creates a number from a literal: `2.5`.
    public init(floatLiteral value: Double) { self = .double(value) }
    /// Creates a text from a literal: `"text"`.
    public init(stringLiteral value: String) { self = .string(value) }
    /// Creates a list from a literal: `[1, "two"]`.
    public init(arrayLiteral elements: ParameterValue...) { self = .array(elements) }
    /// Creates an object from a literal: `["a": 1]`. Of two equal keys the last one wins.
    public init(dictionaryLiteral elements: (String, ParameterValue)...) {
        self = .object(Dictionary(elements) { _, last in last })
    }
}

/// An optional inside an `Any`. No cast to its wrapped type recognizes it when it is `nil`.
private protocol OptionalValue {
    var wrappedValue: Any? { get }
}

extension Optional: OptionalValue {
    fileprivate var wrappedValue: Any? { self }
}

extension ParameterValue: Encodable {
    /// Encodes the value as the matching JSON type.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .null: try container.encodeNil()
        case .bool(let value): try container.encode(value)
        case .int(let value): try container.encode(value)
        case .unsigned(let value): try container.encode(value)
        case .double(let value): try container.encode(value)
        case .decimal(let value): try container.encode(value)
        case .string(let value): try container.encode(value)
        case .date(let value):
            if let problem = firstProblem(at: "date") { throw problem }
            try container.encode(RequestData.Conventions.Dates.iso8601.value(of: value))
        case .array(let values): try container.encode(values)
        case .object(let values): try container.encode(values)
        case .unencodable(let type):
            throw EncodingError.invalidValue(
                type,
                .init(codingPath: encoder.codingPath, debugDescription: "JSON can't hold a \(type)")
            )
        }
    }
}

extension NetworkError {
    static func invalidParameter(_ path: String, _ problem: String) -> NetworkError {
        NetworkError.refused(.invalidParameters, "the parameter '\(path)' \(problem)")
    }
}
