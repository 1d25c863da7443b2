public import FoundationEssentials
public import HTTPTypes

/// A decoder for JSON, whatever the Content-Type.
public struct JSONResponseDecoder: ResponseDecoder {
    /// `application/json`.
    public var accept: String? { "application/json" }
    private let decoder: JSONDecoder

    /// Creates a decoder with the strategies of Foundation's `JSONDecoder`, or others.
    /// - Parameter configure: Sets the strategies of the decoder, which is used for every response.
    public init(configure: (JSONDecoder) -> Void = { _ in }) {
        decoder = JSONDecoder()
        configure(decoder)
    }

    static let plain = JSONResponseDecoder()

    /// Returns the value.
    public func decode<Value: Decodable & SendableMetatype>(
        _ type: Value.Type,
        from body: Data,
        of head: HTTPResponse
    ) throws -> sending Value {
        try decode(type, from: body)
    }

    func decode<Value: Decodable & SendableMetatype>(_ type: Value.Type, from body: Data) throws -> sending Value {
        try decoder.decode(type, from: body)
    }
}

/// A decoder made of a closure, for any decoder that takes a `Decodable` type and bytes.
public struct ClosureResponseDecoder: ResponseDecoder {
    private let make: @Sendable (any Decodable.Type, Data) throws -> any Decodable

    /// Creates a decoder.
    /// - Parameter make: Receives the type and the body, and returns a value of that type.
    public init(_ make: @escaping @Sendable (any Decodable.Type, Data) throws -> any Decodable) { self.make = make }

    /// Returns the value.
    /// - Throws: The error of the closure, or ``NetworkError/Code/decodingFailed`` for a value of another type.
    public func decode<Value: Decodable & SendableMetatype>(
        _ type: Value.Type,
        from body: Data,
        of head: HTTPResponse
    ) throws -> sending Value {
        // The closure made the value for this call alone.
        guard let value = try make(type, body) as? Value else {
            throw NetworkError(
                .decodingFailed,
                "the decoder returned a type other than the requested \(type)",
                phase: .decoding
            )
        }
        return unshared(value)
    }
}

extension ResponseDecoder where Self == JSONResponseDecoder {
    /// JSON with the default strategies of Foundation's `JSONDecoder`.
    public static var json: JSONResponseDecoder { .plain }

    /// Returns a decoder for JSON with other strategies for dates, keys, data or numbers.
    public static func json(_ configure: (JSONDecoder) -> Void) -> JSONResponseDecoder {
        JSONResponseDecoder(configure: configure)
    }
}

extension ResponseDecoder where Self == ClosureResponseDecoder {
    /// Returns a decoder made of a closure.
    public static func using(
        _ make: @escaping @Sendable (any Decodable.Type, Data) throws -> any Decodable
    ) -> ClosureResponseDecoder {
        ClosureResponseDecoder(make)
    }
}
