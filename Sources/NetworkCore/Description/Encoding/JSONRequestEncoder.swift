public import FoundationEssentials

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
        encoder = RequestContent.JSON.standardEncoder
        configure(encoder)
    }

    /// Sorted keys, `/` unescaped, and the default strategies of Foundation's `JSONEncoder`.
    public static let json = JSONRequestEncoder()

    /// Returns an encoder with other strategies for dates, keys, data or numbers.
    public static func json(_ configure: (JSONEncoder) -> Void) -> JSONRequestEncoder {
        JSONRequestEncoder(configure: configure)
    }

    func encode(_ value: some Encodable) throws -> Data { try encoder.encode(value) }
}
