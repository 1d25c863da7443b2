public import FoundationEssentials
public import HTTPTypes

/// Makes a value from a response's body. ``NetworkClient/decoder`` is JSON unless another is given.
///
/// ```swift
/// client.decoder = .json { $0.keyDecodingStrategy = .convertFromSnakeCase }
/// client.decoder = .using { type, body in try PropertyListDecoder().decode(type, from: body) }
/// ```
///
/// It runs in the caller's task, never on a transport's thread, and is not interrupted: the call's total timeout and
/// cancellation are looked at before and after it. ``TransportOptions/maximumBodyBytes`` bounds what it may have to do.
/// Whatever it throws becomes ``NetworkError/Code/decodingFailed``, or ``NetworkError/Code/noData`` where the body is
/// empty, unless it is a ``NetworkError`` already. ``Empty`` and an optional without a body never come here.
public protocol ResponseDecoder: Sendable {
    /// The value of `Accept` for a request that has none, `application/json` for example. `nil`, the default, sends
    /// `*/*`.
    var accept: String? { get }

    /// The value.
    /// - Parameters:
    ///   - type: What to make.
    ///   - body: The whole body, decompressed; it may be empty.
    ///   - head: The head it came with, for its Content-Type.
    func decode<Value: Decodable & SendableMetatype>(
        _ type: Value.Type,
        from body: Data,
        of head: HTTPResponse
    ) throws -> sending Value
}

extension ResponseDecoder {
    /// No preference.
    public var accept: String? { nil }
}

/// Decodes JSON, whatever Content-Type says.
public struct JSONResponseDecoder: ResponseDecoder {
    /// `application/json`.
    public var accept: String? { "application/json" }
    private let decoder: JSONDecoder

    /// The strategies of Foundation's `JSONDecoder`, or others.
    /// - Parameter configure: Sets the strategies of the one decoder that is used from then on.
    public init(configure: (JSONDecoder) -> Void = { _ in }) {
        decoder = JSONDecoder()
        configure(decoder)
    }

    static let plain = JSONResponseDecoder()

    /// The value.
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

/// Decodes by a closure: for any decoder that takes a `Decodable` type and bytes.
public struct ClosureResponseDecoder: ResponseDecoder {
    private let make: @Sendable (any Decodable.Type, Data) throws -> any Decodable

    /// - Parameter make: Gets the type and the body, and makes a value of that type.
    public init(_ make: @escaping @Sendable (any Decodable.Type, Data) throws -> any Decodable) { self.make = make }

    /// The value.
    public func decode<Value: Decodable & SendableMetatype>(
        _ type: Value.Type,
        from body: Data,
        of head: HTTPResponse
    ) throws -> sending Value {
        // Made by the closure for this call alone.
        guard let value = try make(type, body) as? Value else {
            throw NetworkError(
                .decodingFailed,
                "the decoder made another type than the \(type) that was asked for",
                phase: .decoding
            )
        }
        return unshared(value)
    }
}

extension ResponseDecoder where Self == JSONResponseDecoder {
    /// JSON with Foundation's own strategies.
    public static var json: JSONResponseDecoder { .plain }

    /// JSON with other strategies for dates, keys, data or numbers.
    public static func json(_ configure: (JSONDecoder) -> Void) -> JSONResponseDecoder {
        JSONResponseDecoder(configure: configure)
    }
}

extension ResponseDecoder where Self == ClosureResponseDecoder {
    /// Any decoder, by a closure.
    public static func using(
        _ make: @escaping @Sendable (any Decodable.Type, Data) throws -> any Decodable
    ) -> ClosureResponseDecoder {
        ClosureResponseDecoder(make)
    }
}
