public import FoundationEssentials
import HTTPTypes
import JSONText

/// A server's description of an error, in the form of [RFC 9457](https://www.rfc-editor.org/rfc/rfc9457)
/// (`application/problem+json`).
///
/// ```swift
/// catch let error as NetworkError where error.problem?.type == "https://example.com/problems/out-of-credit" {
///     print(error.problem?.extensions["balance"] ?? .null)
/// }
/// ```
///
/// All of it is the server's text: no description shows it, except ``unredactedDescription`` and
/// ``NetworkError/unredactedDescription``.
public struct ProblemDetails: Sendable, Hashable, SafelyPrinted {
    /// A URI that names the kind of problem; `about:blank` when the server gave none.
    public var type = "about:blank"
    /// A short sentence for the kind of problem.
    public var title: String?
    /// The status that the body states. The response's own status is the one that counts.
    public var status: Int?
    /// A description of this occurrence.
    public var detail: String?
    /// A URI that names this occurrence.
    public var instance: String?
    /// The members in addition to those, as JSON values.
    public var extensions: [String: ParameterValue] = [:]

    /// The limit on a body that is read as a problem, in bytes. A larger one is ignored.
    public static let maximumBytes = 65_536

    /// Creates a problem with only the type `about:blank`.
    public init() {}

    /// Reads a body. A member of the wrong kind is ignored
    /// ([RFC 9457 §3.1](https://www.rfc-editor.org/rfc/rfc9457#section-3.1)).
    /// - Returns: `nil` for a body that is not a JSON object or is larger than ``maximumBytes``.
    public init?(json: Data) {
        guard json.count <= Self.maximumBytes,
            let tree = try? JSONParser.parse(Array(json.withoutMark), allowsRepeatedKeys: true),
            case .object(let members)? = ParameterValue(json: tree)
        else { return nil }
        for (name, value) in members {
            switch (name, value) {
            case ("type", .string(let text)): type = text
            case ("title", .string(let text)): title = text
            case ("detail", .string(let text)): detail = text
            case ("instance", .string(let text)): instance = text
            case ("status", .int(let code)): status = code
            case ("type", _), ("title", _), ("detail", _), ("instance", _), ("status", _): break
            default: extensions[name] = value
            }
        }
    }

    /// The status that the body states. The rest is the server's text.
    public var description: String { "a problem" + (status.map { " of status \($0)" } ?? "") }

    /// The type, title, detail and instance in the server's own words, with control characters made visible. For
    /// developers only.
    public var unredactedDescription: String {
        let texts = [type, title, detail, instance].compactMap(\.self).map { Redaction.visible($0) }
        return "\(description): \(texts.joined(separator: ", "))"
    }
}

extension NetworkError {
    /// The problem that the rejected response describes; `nil` if its Content-Type is not `application/problem+json`,
    /// or its body is not a JSON object of at most ``ProblemDetails/maximumBytes``. It is parsed from ``response`` on
    /// each access.
    public var problem: ProblemDetails? {
        guard let response, let type = response.headerFields[.contentType].flatMap({ MediaType($0) }),
            type.essence == "application/problem+json"
        else { return nil }
        return ProblemDetails(json: response.body)
    }
}

extension ParameterValue {
    /// Converts a value that was read; `nil` for a number too large for any type. An object omits such a member.
    fileprivate init?(json: JSONValue) {
        switch json {
        case .null: self = .null
        case .bool(let value): self = .bool(value)
        case .string(let value): self = .string(value)
        case .number(let digits):
            guard let number = Self.number(digits) else { return nil }
            self = number
        case .array(let values): self = .array(values.map { Self(json: $0) ?? .null })
        case .object(let members):
            self = .object(
                members.reduce(into: [:]) { read, member in
                    if let value = Self(json: member.value) { read[member.key] = value }
                })
        }
    }

    /// Returns the number of these digits, exactly if a type can hold it.
    private static func number(_ digits: String) -> ParameterValue? {
        if let int = Int(digits) { return .int(int) }
        if let unsigned = UInt64(digits) { return .unsigned(unsigned) }
        guard let double = Double(digits), double.isFinite else { return nil }
        if let decimal = Decimal(string: digits), Decimal(string: "\(double)") != decimal {
            return Int("\(decimal)").map { .int($0) } ?? .decimal(decimal)
        }
        return Int(exactly: double).map { .int($0) } ?? .double(double)
    }
}
