#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// A response's body: a sequence of chunks, or all of it at once.
///
/// ```swift
/// let response = try await transport.send(request)
/// let data = try await response.body.collect(upTo: 1_000_000)
/// ```
public struct ResponseBody: Sendable, AsyncSequence {
    /// A chunk, never empty.
    public typealias Element = Data

    private let bytes: Data

    /// A body that is here already.
    public init(_ bytes: Data) { self.bytes = bytes }

    /// The whole body.
    /// - Parameter limit: The most bytes to accept, decoded.
    /// - Throws: ``NetworkError/Code/bodyTooLarge`` above the limit.
    public func collect(upTo limit: Int = .max) async throws -> Data {
        guard bytes.count <= limit else { throw NetworkError.bodyTooLarge(limit: limit) }
        return bytes
    }

    /// Reads chunk by chunk.
    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(bytes: bytes) }

    /// The chunks of a body.
    public struct AsyncIterator: AsyncIteratorProtocol {
        fileprivate var bytes: Data?

        /// The next chunk, or `nil` at the end.
        public mutating func next() async throws -> Data? {
            defer { bytes = nil }
            guard let bytes, !bytes.isEmpty else { return nil }
            return bytes
        }
    }
}

extension NetworkError {
    /// The error for a body beyond its limit.
    package static func bodyTooLarge(limit: Int) -> NetworkError {
        NetworkError(
            .bodyTooLarge,
            "the body is larger than the limit of \(limit) bytes after decompression (maximumBodyBytes)",
            phase: .receiving
        )
    }
}
