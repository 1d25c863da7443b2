public import FoundationEssentials
import HTTPTypes

/// What a server says went wrong, in the form of RFC 9457 (`application/problem+json`).
///
/// ```swift
/// catch let error as NetworkError where error.problem?.type == "https://example.com/problems/out-of-credit" {
///     print(error.problem?.extensions["balance"] ?? .null)
/// }
/// ```
///
/// All of it is the server's text: no description shows it, only ``unredactedDescription`` and
/// ``NetworkError/unredactedDescription``.
public struct ProblemDetails: Sendable, Hashable {
    /// A URI that names the kind of problem; `about:blank` when the server gave none.
    public var type = "about:blank"
    /// A short sentence for the kind of problem.
    public var title: String?
    /// The status as the body states it; the response's own is what counts.
    public var status: Int?
    /// What happened this time.
    public var detail: String?
    /// A URI that names this occurrence.
    public var instance: String?
    /// The members beyond those, as JSON values.
    public var extensions: [String: ParameterValue] = [:]

    /// The largest body that is read as a problem, in bytes. A larger one is left alone.
    public static let maximumBytes = 65_536

    /// Nothing known but the type `about:blank`.
    public init() {}

    /// Reads a body. A member of the wrong kind is ignored, as RFC 9457 §3.1 wants it.
    /// - Returns: `nil` for what is not a JSON object or is larger than ``maximumBytes``.
    public init?(json: Data) {
        guard json.count <= Self.maximumBytes,
            case .object(let members)? = try? JSONDecoder().decode(JSONTree.self, from: json).value
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
}

extension NetworkError {
    /// The problem that the refused answer describes; `nil` where its Content-Type is not `application/problem+json`,
    /// or its body is not one. Read from ``response`` each time it is asked for.
    public var problem: ProblemDetails? {
        guard let response, let type = response.headerFields[.contentType].flatMap({ MediaType($0) }),
            type.essence == "application/problem+json"
        else { return nil }
        return ProblemDetails(json: response.body)
    }
}

/// Any JSON, as parameters hold it.
private struct JSONTree: Decodable {
    let value: ParameterValue

    init(from decoder: any Decoder) throws {
        guard decoder.codingPath.count <= ParameterValue.maximumDepth else {
            throw DecodingError.dataCorrupted(
                .init(codingPath: decoder.codingPath, debugDescription: "nested too deep"))
        }
        let container = try decoder.singleValueContainer()
        if container.decodeNil() {
            value = .null
        } else if let bool = try? container.decode(Bool.self) {
            value = .bool(bool)
        } else if let int = try? container.decode(Int.self) {
            value = .int(int)
        } else if let double = try? container.decode(Double.self) {
            value = .double(double)
        } else if let text = try? container.decode(String.self) {
            value = .string(text)
        } else if let list = try? container.decode([JSONTree].self) {
            value = .array(list.map(\.value))
        } else {
            value = .object(try container.decode([String: JSONTree].self).mapValues(\.value))
        }
    }
}
