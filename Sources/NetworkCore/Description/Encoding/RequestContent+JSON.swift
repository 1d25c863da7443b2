public import FoundationEssentials

extension RequestContent {
    /// Creates content of a value as JSON, with the content type `application/json`.
    /// - Parameters:
    ///   - value: The value to encode. A part that can't be encoded fails the request with
    ///     ``NetworkError/Code/invalidParameters``, which names the place.
    ///   - encoder: The encoder. Default: `nil`, for the client's (``NetworkClient/encoder``).
    public static func json(_ value: some Encodable & Sendable, encoder: JSONEncoder? = nil) -> RequestContent {
        json { defaults in try encoder?.encode(value) ?? defaults.json.encode(value) }
    }

    /// A literal of values of several types has no type of its own.
    @available(*, unavailable, message: "for values of several types, write 'json(parameters: […])'")
    public static func json(_ parameters: [String: ParameterValue]) -> RequestContent {
        json(parameters: parameters)
    }

    /// Creates content of parameters as a JSON object, like a POST request's own ``RequestData/parameters``.
    /// - Parameters:
    ///   - parameters: The members. One that can't be encoded fails the request with
    ///     ``NetworkError/Code/invalidParameters``, which names it.
    ///   - conventions: The way dates are written. Default: `nil`, for the request's (``RequestData/conventions``).
    public static func json(
        parameters: [String: ParameterValue],
        conventions: RequestData.Conventions? = nil
    ) -> RequestContent {
        json { defaults in
            for (name, value) in parameters.sorted(by: { $0.key < $1.key }) {
                if let problem = value.firstProblem(at: name) { throw problem }
            }
            let dates = (conventions ?? defaults.conventions).dates
            // A date that is left as it is encodes itself by the standard convention.
            let written = dates == .iso8601 ? parameters : parameters.mapValues { $0.writingDates(as: dates) }
            return try JSONRequestEncoder.standard.encode(written)
        }
    }

    private static func json(_ bytes: @escaping @Sendable (Defaults) throws -> Data) -> RequestContent {
        RequestContent { defaults in
            do {
                return Encoded(.bytes(try bytes(defaults)), contentType: "application/json")
            } catch EncodingError.invalidValue(_, let context) {
                // The value itself may be a secret, so the message omits it.
                let place = context.codingPath.reduce(into: "") { path, key in
                    path += key.intValue.map { "[\($0)]" } ?? (path.isEmpty ? key.stringValue : ".\(key.stringValue)")
                }
                throw NetworkError.refused(.invalidParameters, "the JSON body can't be encoded at '\(place)'")
            }
        }
    }
}

/// The encoder of the values that requests carry as JSON: the counterpart of ``ResponseDecoder``.
///
/// ```swift
/// client.encoder = .json { $0.keyEncodingStrategy = .convertToSnakeCase }
/// ```
///
/// It makes the bytes of each ``RequestContent/json(_:encoder:)`` that names no encoder. ``RequestData/parameters`` are
/// written as they are, by ``RequestData/conventions``.
public struct JSONRequestEncoder: Sendable {
    private let encoder: JSONEncoder

    /// Creates an encoder with sorted keys, `/` unescaped and the strategies of Foundation's `JSONEncoder`, or others.
    /// - Parameter configure: Sets the strategies of the encoder, which is used for every request.
    public init(configure: (JSONEncoder) -> Void = { _ in }) {
        encoder = Self.standard
        configure(encoder)
    }

    /// Sorted keys, `/` unescaped, and the default strategies of Foundation's `JSONEncoder`.
    public static let json = JSONRequestEncoder()

    /// Returns an encoder with other strategies for dates, keys, data or numbers.
    public static func json(_ configure: (JSONEncoder) -> Void) -> JSONRequestEncoder {
        JSONRequestEncoder(configure: configure)
    }

    /// A new encoder with sorted keys, so that equal values have equal bytes, and with `/` unescaped.
    static var standard: JSONEncoder {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return encoder
    }

    func encode(_ value: some Encodable) throws -> Data { try encoder.encode(value) }
}
