import Foundation
import NetworkLayer

// The transport interface of swift-openapi-runtime, repeated here so that this program does not depend on its package.

/// A body as a sequence of chunks.
struct HTTPBody: AsyncSequence, Sendable {
    typealias Element = ArraySlice<UInt8>

    /// The length in bytes, if it is known.
    let length: Int?
    private let make: @Sendable () -> AsyncThrowingStream<ArraySlice<UInt8>, any Error>

    init(length: Int? = nil, _ make: @escaping @Sendable () -> AsyncThrowingStream<ArraySlice<UInt8>, any Error>) {
        (self.length, self.make) = (length, make)
    }

    init(_ text: String) {
        self.init(length: text.utf8.count) {
            AsyncThrowingStream { continuation in
                continuation.yield(ArraySlice(text.utf8))
                continuation.finish()
            }
        }
    }

    func makeAsyncIterator() -> AsyncThrowingStream<ArraySlice<UInt8>, any Error>.Iterator {
        make().makeAsyncIterator()
    }
}

/// Sends the operations of a generated client.
protocol ClientTransport: Sendable {
    func send(
        _ request: HTTPRequest, body: HTTPBody?, baseURL: URL, operationID: String
    ) async throws -> (HTTPResponse, HTTPBody?)
}

/// Sends a generated client's operations through a pipeline, with bodies streamed in both directions.
struct OpenAPITransport: ClientTransport {
    let client: NetworkClient

    func send(
        _ request: HTTPRequest, body: HTTPBody?, baseURL: URL, operationID: String
    ) async throws -> (HTTPResponse, HTTPBody?) {
        let url = try RequestURL(base: baseURL.absoluteString, path: request.path ?? "")
        var prepared = TransportRequest(method: request.method, url: url, options: client.options)
        prepared.headerFields = request.headerFields
        if let body { prepared.body = .stream(body.lazyMap { Data($0) }, length: body.length) }
        let response = try await client.with { $0.validation = .any }.send(prepared, as: .stream)
        let pieces = response.body
        let received = HTTPBody {
            AsyncThrowingStream {
                // Each chunk is read on demand; an iterator of a body continues where the last one stopped.
                var iterator = pieces.makeAsyncIterator()
                return try await iterator.next().map { ArraySlice($0) }
            }
        }
        return (response.head, received)
    }
}

extension AsyncSequence where Self: Sendable, Element: Sendable {
    /// Returns the elements, transformed on demand.
    fileprivate func lazyMap<Value: Sendable>(
        _ change: @escaping @Sendable (Element) -> Value
    ) -> AsyncMapSequence<Self, Value> { map { change($0) } }
}
