public import FoundationEssentials
public import HTTPTypes

/// A decoder that makes a value from a response's body. The default of ``NetworkClient/decoder`` is JSON.
///
/// ```swift
/// client.decoder = .json { $0.keyDecodingStrategy = .convertFromSnakeCase }
/// client.decoder = .using { type, body in try PropertyListDecoder().decode(type, from: body) }
/// ```
///
/// It runs in the caller's task, so on a transport's thread only where that task prefers it as its executor, and is not
/// interrupted: the call's total timeout and cancellation are checked before and after it.
/// ``TransportOptions/maximumBodyBytes`` limits its input. Any error that it throws becomes
/// ``NetworkError/Code/decodingFailed``, or ``NetworkError/Code/noData`` if the body is empty, unless it is a
/// ``NetworkError`` already. ``Empty``, and an optional without a body, never reach the decoder.
public protocol ResponseDecoder: Sendable {
    /// The value of `Accept` for a request that has none, such as `application/json`. `nil`, the default, sends `*/*`.
    var accept: String? { get }

    /// Returns the value.
    /// - Parameters:
    ///   - type: The type to decode.
    ///   - body: The whole body, decompressed; it may be empty.
    ///   - head: The head of the response, for its Content-Type.
    func decode<Value: Decodable & SendableMetatype>(
        _ type: Value.Type,
        from body: Data,
        of head: HTTPResponse
    ) throws -> sending Value
}

extension ResponseDecoder {
    /// No preference: `nil`.
    public var accept: String? { nil }
}
