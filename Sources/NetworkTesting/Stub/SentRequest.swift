public import Foundation
public import NetworkCore
import Synchronization

/// A request as ``StubTransport`` received it, with its body read.
public struct SentRequest: Sendable {
    /// The HTTP method.
    public let method: HTTPRequest.Method
    /// The URL of the request.
    public let url: RequestURL
    /// The header fields as they would go out on the wire.
    public let headerFields: HTTPFields
    /// The whole body as it would be sent, compressed if ``NetworkCore/TransportOptions/requestCompression`` says so;
    /// empty if there is none.
    public let body: Data
    /// The request's options: timeouts, limits, protocol versions and others.
    public let options: TransportOptions

    init(_ request: TransportRequest, body: Data) {
        method = request.method
        url = request.url
        headerFields = request.wireFields
        self.body = body
        options = request.options
    }

    /// The query, percent-encoded; empty if there is none.
    public var query: String { url.query ?? "" }
    /// The path and query, as in the request line.
    public var target: String { url.path + (url.query.map { "?\($0)" } ?? "") }
    /// The body as UTF-8 text. Invalid bytes become U+FFFD.
    public var text: String { String(decoding: body, as: UTF8.self) }

    /// Returns a value decoded from the body as JSON.
    /// - Throws: The decoder's error.
    public func json<Value: Decodable>(
        _ type: Value.Type = Value.self, decoder: JSONDecoder = JSONDecoder()
    ) throws -> Value {
        try decoder.decode(type, from: body)
    }

    /// The largest streamed body that is read, in bytes.
    static let maximumBodyBytes = 67_108_864

    /// Returns a body's bytes.
    /// - Parameter moved: Called after each chunk.
    static func collect(_ body: TransportRequest.Body?, moved: @escaping @Sendable () -> Void) async throws -> Data {
        switch body?.content {
        case nil: return Data()
        case .bytes(let bytes): return bytes
        case .produced(let producer):
            let collected = Guarded(Data())
            try await producer.run { chunk in
                moved()
                let count = collected.withLock { bytes in
                    bytes.append(chunk)
                    return bytes.count
                }
                guard count <= maximumBodyBytes else { throw NetworkError.bodyTooLarge(limit: maximumBodyBytes) }
            }
            let bytes = collected.withLock { $0 }
            guard producer.length == nil || producer.length == bytes.count else {
                throw NetworkError(
                    .bodyLengthMismatch,
                    "the body has \(bytes.count) bytes, and \(producer.length ?? 0) were announced",
                    phase: .waiting
                )
            }
            return bytes
        }
    }
}
