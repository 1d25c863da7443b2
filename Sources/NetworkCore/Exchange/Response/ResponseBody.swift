public import FoundationEssentials
public import HTTPTypes

extension TransportResponse {
    /// A response's body: a sequence of chunks as they arrive, or all of it at once.
    ///
    /// ```swift
    /// let response = try await transport.send(request)
    /// for try await chunk in response.body { try file.write(chunk) }
    /// ```
    ///
    /// A body is read once, by one reader. While it is not read, the transport stops the server where it can
    /// (``TransportCapabilities/Capability/backPressure``) and holds about a megabyte and a half at most. A body that
    /// is dropped unread ends its exchange. Cancelling the reading task ends it too, and so does
    /// ``TransportOptions/totalTimeout``, however much is left to read: both are looked at every few milliseconds while
    /// a body is decompressed.
    public struct Body: Sendable, AsyncSequence {
        /// A chunk, never empty.
        public typealias Element = Data

        private let source: any BodySource
        private let ended: (any EndedBodySource)?

        /// A body that is here already.
        public init(_ bytes: Data) { self.init(source: CollectedBody(bytes)) }

        /// A body that a transport delivers.
        public init(source: any BodySource) {
            self.source = source
            ended = nil
        }

        /// The same of one that tells its end apart.
        package init(_ source: any EndedBodySource) {
            self.source = source
            ended = source
        }

        /// The whole body.
        /// - Parameter limit: The most bytes to accept, counted after decompression;
        ///   ``TransportOptions/maximumBodyBytes`` of the request if not given.
        /// - Throws: ``NetworkError/Code/bodyTooLarge`` above the limit; what is left of the body is then not read.
        public func collect(upTo limit: Int? = nil) async throws -> Data {
            // No source has to expect a limit below 0.
            try await source.collect(upTo: limit.map { Swift.max(0, $0) })
        }

        /// Reads chunk by chunk.
        public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(source: source) }

        /// The header fields after the body, once it has ended; empty if there were none. `nil` before the end, and
        /// where the transport has none (``TransportCapabilities/Capability/trailers``).
        public var trailers: HTTPFields? { source.trailers }

        var metrics: TransportMetrics { source.metrics }
        var unreadMetrics: (any UnreadMetrics)? { ended?.unreadMetrics }

        /// The chunks of a body.
        public struct AsyncIterator: AsyncIteratorProtocol {
            fileprivate let source: any BodySource

            /// The next chunk, or `nil` at the end.
            /// - Throws: ``NetworkError``, once.
            public mutating func next() async throws -> Data? { try await source.next() }
        }
    }
}

extension TransportResponse {
    /// Where a transport's body comes from. For those who write a transport.
    ///
    /// When the last reference goes before the end, the exchange must end.
    public protocol BodySource: AnyObject, Sendable {
        /// The next bytes, never empty; `nil` at the end and after an error.
        func next() async throws -> Data?
        /// Everything that is left, up to a limit; `nil` is the request's own. A body beyond it is
        /// ``NetworkError/Code/bodyTooLarge``, and the exchange must end then: who gives an answer up relies on it.
        func collect(upTo limit: Int?) async throws -> Data
        /// What the exchange took so far, and in all once the body has ended.
        var metrics: TransportMetrics { get }
        /// See ``TransportResponse/Body/trailers``.
        var trailers: HTTPFields? { get }
    }
}

/// A body that is here already.
private final class CollectedBody: TransportResponse.BodySource {
    private let bytes: Data
    private let isRead = OneTimeFlag()

    init(_ bytes: Data) { self.bytes = bytes }

    func next() async throws -> Data? { isRead.raise() && !bytes.isEmpty ? bytes : nil }

    func collect(upTo limit: Int?) async throws -> Data {
        guard isRead.raise() else { return Data() }
        guard bytes.count <= limit ?? .max else { throw NetworkError.bodyTooLarge(limit: limit ?? .max) }
        return bytes
    }

    var metrics: TransportMetrics { TransportMetrics(total: .zero) }
    var trailers: HTTPFields? { nil }
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

    /// The error for a body that fits the limit, but not the memory.
    package static var noMemoryForBody: NetworkError {
        NetworkError(.bodyTooLarge, "there is no memory for the body", phase: .receiving)
    }

    /// The error for a second reader.
    package static var bodyReadTwice: NetworkError {
        NetworkError(.invalidOption, "the body has a reader already; a body is read by one", phase: .receiving)
    }
}
