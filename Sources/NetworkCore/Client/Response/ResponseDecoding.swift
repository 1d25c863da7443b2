import FoundationEssentials
import HTTPTypes

enum ResponseDecoding {
    /// Returns the value that a decoder makes; ``Empty`` and an optional without a body are made here.
    static func decode<Value: Decodable & SendableMetatype>(
        _ type: Value.Type,
        from body: Data,
        of head: ReadableHead = ReadableHead(HTTPResponse(status: .ok)),
        by decoder: any ResponseDecoder = .json
    ) throws -> sending Value {
        if body.isEmpty || type == Empty.self || head.status == .noContent || head.status == .resetContent {
            if let value = (type as? any ValueWithoutBody.Type)?.withoutBody as? Value {
                // A new value each time.
                return unshared(value)
            }
        }
        do {
            // This decoder does not use the head, so it is not parsed.
            if let decoder = decoder as? JSONResponseDecoder { return try decoder.decode(type, from: body) }
            return try decoder.decode(type, from: body, of: head.head)
        } catch {
            guard !body.isEmpty else {
                throw NetworkError(
                    .noData,
                    "the response has no body, and \(TypeName.withArticle(type)) was expected",
                    phase: .decoding
                )
            }
            if error is NetworkError { throw error }
            throw NetworkError.decodingFailed(type, body, error, contentType: decoder.unexpected(in: head))
        }
    }
}

extension NetworkError {
    static func decodingFailed(
        _ type: Any.Type, _ body: Data, _ error: any Error, at place: String = "", contentType: String? = nil
    ) -> NetworkError {
        let (keys, words, detail) = explain(error)
        // The words name a missing key of the program: its place is the object that lacks it.
        var owners = keys[...]
        if case .keyNotFound? = error as? DecodingError, let key = keys.last, isOfProgram(key) { owners.removeLast() }
        let shownPath = path(owners.map { ($0, isOfProgram($0) ? $0.stringValue : "…") })
        let failure = NetworkError.DecodingFailure(
            type: TypeName.of(type),
            codingPath: path(keys.map { ($0, Redaction.excerpt(of: Data($0.stringValue.utf8))) }),
            reason: detail.map { "\(words): \(Redaction.excerpt(of: Data($0.utf8)))" } ?? words,
            bodyStart: Redaction.excerpt(of: body)
        )
        var failed = NetworkError(
            .decodingFailed,
            "\(place.isEmpty ? "the body" : place) is not \(TypeName.withArticle(type)): \(words)"
                + (shownPath.isEmpty ? "" : " at \(shownPath)")
                + (contentType.map { "; its Content-Type is \($0)" } ?? "") + hint(for: type),
            phase: .decoding
        )
        failed.decoding = failure
        return failed
    }

    /// Returns what to write for the bytes or the text of a body: as a type, both are values in JSON.
    private static func hint(for type: Any.Type) -> String {
        if type == Data.self { return "; for the bytes of the body, write .data in place of Data.self" }
        return type == String.self ? "; for the text of the body, write .text in place of String.self" : ""
    }

    private static func explain(_ error: any Error) -> (keys: [any CodingKey], words: String, detail: String?) {
        switch error as? DecodingError {
        case .typeMismatch(let type, let context):
            (context.codingPath, "\(TypeName.withArticle(type)) was expected\(found(by: context))", nil)
        case .valueNotFound(let type, let context):
            (context.codingPath, "null where \(TypeName.withArticle(type)) was expected", nil)
        case .keyNotFound(let key, let context):
            isOfProgram(key)
                ? (context.codingPath + [key], "the key '\(key.stringValue)' is missing", nil)
                : (context.codingPath + [key], "a key is missing", key.stringValue)
        case .dataCorrupted(let context) where context.debugDescription.hasSuffix("not valid JSON."):
            (context.codingPath, "it is not JSON", context.debugDescription)
        case .dataCorrupted(let context): (context.codingPath, "the data is not valid", context.debugDescription)
        default: ([], "the decoder failed with \(type(of: error))", String(describing: error))
        }
    }

    /// Returns what a JSON decoder found, by its own words: one of a few kinds, and nothing of the body.
    private static func found(by context: DecodingError.Context) -> String {
        for (words, kind) in [
            ("a string", "a string"), ("number", "a number"), ("a number", "a number"), ("bool", "a boolean"),
            ("an array", "an array"), ("a dictionary", "an object"), ("null", "null"),
        ] where context.debugDescription.hasSuffix("found \(words) instead.") {
            return ", and \(kind) found"
        }
        return ""
    }

    /// Whether a key's name comes from the program, as a case of an enum does. A dictionary's keys come from the body.
    private static func isOfProgram(_ key: any CodingKey) -> Bool {
        let mirror = Mirror(reflecting: key)
        return mirror.displayStyle == .enum && mirror.children.isEmpty
    }

    /// Returns the index that a key stands for in an array. A key of digits in a dictionary has a number too, but comes
    /// from the body; the name tells the two apart.
    private static func index(of key: any CodingKey) -> Int? {
        key.intValue.flatMap { key.stringValue == "Index \($0)" ? $0 : nil }
    }

    private static func path(_ keys: [(key: any CodingKey, name: String)]) -> String {
        keys.reduce(into: "") { path, step in
            if let index = index(of: step.key) {
                path += "[\(index)]"
            } else {
                path += path.isEmpty ? step.name : ".\(step.name)"
            }
        }
    }
}

extension ResponseDecoder {
    /// Returns the media type of a response if it is not what this decoder accepts, such as HTML for JSON.
    fileprivate func unexpected(in head: ReadableHead) -> String? {
        guard let accept, let found = head.head.headerFields[.contentType].flatMap(MediaType.init),
            !found.matches(accept), !(accept == "application/json" && found.matches("*/*+json"))
        else { return nil }
        return MediaType.shown(found.essence)
    }
}

/// The response type of a request whose response has no content of interest: a body is discarded, and none is required.
///
/// ```swift
/// struct DeleteUser: RequestType {
///     typealias ResponseType = Empty
///     let id: Int
///     var data: RequestData { RequestData(path: "http://127.0.0.1:8080/users/\(id)", method: .delete) }
/// }
/// ```
///
/// If a response may or may not have a body, 200 or 204, use an optional: `typealias ResponseType = User?` is `nil`
/// without a body.
public struct Empty: Codable, Sendable, Hashable {
    /// Creates an empty value.
    public init() {}
}

protocol ValueWithoutBody {
    static var withoutBody: Self { get }
}

extension Empty: ValueWithoutBody {
    static var withoutBody: Empty { Empty() }
}

extension Optional: ValueWithoutBody {
    static var withoutBody: Wrapped? { nil }
}

extension NetworkError.FailedResponse {
    /// Returns the body as a value, such as a service's own description of a failure:
    ///
    /// ```swift
    /// } catch let error as NetworkError where error.code == .unacceptableStatus {
    ///     let fault = try error.response?.decoded(as: Fault.self)
    /// ```
    ///
    /// ``ProblemDetails`` reads `application/problem+json`.
    /// - Parameters:
    ///   - type: The type of the value.
    ///   - decoder: The decoder. Default: `nil`, for ``NetworkClient/decoder`` of the client that received the
    ///     response. A service whose failures have another format than its values needs it: `by: .json`.
    /// - Throws: ``NetworkError`` with ``NetworkError/Code/decodingFailed``, or ``NetworkError/Code/noData`` for an
    ///   empty body.
    public func decoded<Value: Decodable & SendableMetatype>(
        as type: Value.Type, by decoder: (any ResponseDecoder)? = nil
    ) throws -> sending Value {
        let head = HTTPResponse(status: status, headerFields: headerFields)
        let decoder = decoder ?? self.decoder ?? .json
        return try ResponseDecoding.decode(type, from: body, of: ReadableHead(head), by: decoder)
    }
}
