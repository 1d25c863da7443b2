import HTTPTypes

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Turns a body into the type that was asked for.
enum ResponseDecoding {
    /// The value, by a decoder; ``Empty`` and an optional without a body are made here.
    /// - Throws: ``NetworkError/Code/noData`` for an empty body, ``NetworkError/Code/decodingFailed`` otherwise.
    static func decode<Value: Decodable & SendableMetatype>(
        _ type: Value.Type,
        from body: Data,
        of head: HTTPResponse = HTTPResponse(status: .ok),
        by decoder: any ResponseDecoder = .json
    ) throws -> sending Value {
        if body.isEmpty || type == Empty.self || head.status == .noContent || head.status == .resetContent {
            if let value = (type as? any ValueWithoutBody.Type)?.withoutBody as? Value {
                // A new value each time; the compiler can't see that through `any`.
                nonisolated(unsafe) let absent = value
                return absent
            }
        }
        do {
            return try decoder.decode(type, from: body, of: head)
        } catch {
            guard !body.isEmpty else {
                throw NetworkError(
                    .noData,
                    "the response has no body, and \(type) was expected",
                    phase: .decoding
                )
            }
            if error is NetworkError { throw error }
            throw NetworkError.decodingFailed(type, body, error)
        }
    }
}

extension NetworkError {
    /// The error for a body, or the line of one, that does not fit a type.
    /// - Parameter place: Where it stands, `line 3` for example; empty for the whole body.
    static func decodingFailed(_ type: Any.Type, _ body: Data, _ error: any Error, at place: String = "")
        -> NetworkError
    {
        let (path, reason) = explain(error)
        let failure = NetworkError.DecodingFailure(
            type: String(reflecting: type),
            codingPath: path,
            reason: reason,
            bodyStart: Excerpt.of(body)
        )
        var failed = NetworkError(
            .decodingFailed,
            "\(place.isEmpty ? "the body" : place) is not a \(failure.type): \(reason)\(path.isEmpty ? "" : " at \(path)")",
            phase: .decoding
        )
        failed.decoding = failure
        return failed
    }

    private static func explain(_ error: any Error) -> (path: String, reason: String) {
        switch error as? DecodingError {
        case .typeMismatch(let type, let context): (path(context.codingPath), "a \(type) was expected")
        case .valueNotFound(let type, let context): (path(context.codingPath), "null where a \(type) was expected")
        case .keyNotFound(let key, let context):
            (path(context.codingPath + [key]), "the key '\(key.stringValue)' is missing")
        case .dataCorrupted(let context):
            (path(context.codingPath), "the data is not valid: \(context.debugDescription)")
        default: ("", String(describing: error))
        }
    }

    /// `[3].name` for the coding path Index 3, name.
    private static func path(_ keys: [any CodingKey]) -> String {
        keys.reduce(into: "") { path, key in
            if let index = key.intValue {
                path += "[\(index)]"
            } else {
                path += path.isEmpty ? key.stringValue : ".\(key.stringValue)"
            }
        }
    }
}
