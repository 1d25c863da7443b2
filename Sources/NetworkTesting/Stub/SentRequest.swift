public import Foundation
public import NetworkCore
import Synchronization

/// A request as ``StubDispatcher`` got it, with its body read.
public struct SentRequest: Sendable {
    /// How it asked.
    public let method: HTTPRequest.Method
    /// Where.
    public let url: RequestURL
    /// The header fields as they would go out.
    public let headerFields: HTTPFields
    /// The whole body; empty for none.
    public let body: Data
    /// Time, size and protocol.
    public let options: TransportOptions

    init(_ request: TransportRequest, body: Data) {
        method = request.method
        url = request.url
        headerFields = request.wireFields
        self.body = body
        options = request.options
    }

    /// The query, percent-encoded; empty for none.
    public var query: String { url.query ?? "" }
    /// Path and query, as the request line has them.
    public var target: String { url.path + (url.query.map { "?\($0)" } ?? "") }
    /// The body as text.
    public var text: String { String(decoding: body, as: UTF8.self) }

    /// The body, decoded from JSON.
    public func json<Value: Decodable>(_ type: Value.Type = Value.self) throws -> Value {
        try JSONDecoder().decode(type, from: body)
    }

    /// The largest streamed body that is read.
    static let maximumBodyBytes = 67_108_864

    static func collect(_ body: TransportRequest.Body?) async throws -> Data {
        switch body?.content {
        case nil: return Data()
        case .bytes(let bytes): return bytes
        case .produced(let producer):
            let collected = Guarded(Data())
            try await producer.run { chunk in
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
