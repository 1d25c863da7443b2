#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Turns a body into the type that was asked for.
enum ResponseDecoding {
    /// Decodes JSON.
    /// - Throws: ``NetworkError/Code/noData`` for an empty body, ``NetworkError/Code/decodingFailed`` otherwise.
    static func decode<Value: Decodable & SendableMetatype>(
        _ type: Value.Type,
        from body: Data
    ) throws -> sending Value {
        do {
            return try JSONDecoder().decode(type, from: body)
        } catch {
            guard !body.isEmpty else {
                throw NetworkError(
                    .noData,
                    "the response has no body, and \(type) was expected",
                    phase: .decoding
                )
            }
            let (path, reason) = explain(error)
            let failure = NetworkError.DecodingFailure(
                type: String(reflecting: type),
                codingPath: path,
                reason: reason,
                bodyStart: Excerpt.of(body)
            )
            let place = path.isEmpty ? "" : " at \(path)"
            var failed = NetworkError(
                .decodingFailed,
                "the body is not a \(failure.type): \(reason)\(place)",
                phase: .decoding
            )
            failed.decoding = failure
            throw failed
        }
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
