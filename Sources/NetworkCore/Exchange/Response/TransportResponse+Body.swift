public import FoundationEssentials
public import HTTPTypes
import Synchronization

extension TransportResponse {
    /// A response's body: a sequence of chunks as they arrive, or the whole body at once.
    ///
    /// ```swift
    /// let response = try await transport.send(request)
    /// for try await chunk in response.body { try file.write(chunk) }
    /// ```
    ///
    /// A body can be read once, by one reader: a second reading of a body that had bytes, or whose reading failed,
    /// fails with ``NetworkError/Code/bodyAlreadyRead``, and so does a second reader at the same time. A reader that
    /// stops before the end leaves the rest to the next one. While a body is not read, the transport pauses the server
    /// where it can (``TransportCapabilities/Capability/backPressure``) and holds about 1.5 MiB at most.
    ///
    /// A body that is released before its end ends its exchange. So do cancelling the reading task and
    /// ``TransportOptions/totalTimeout``, however much is left to read. While a body is decompressed, both are checked
    /// every few milliseconds.
    public struct Body: Sendable, AsyncSequence, SafelyPrinted {
        /// A chunk of the body, never empty.
        public typealias Element = Data

        let source: any BodySource
        private let ended: (any EndedBodySource)?
        let record: any ReadingRecord
        /// Whether the source is a transport's, which keeps the total timeout itself.
        let isOfTransport: Bool

        /// Creates a body from bytes in memory.
        public init(_ bytes: Data) { self.init(source: CollectedBody(bytes)) }

        /// Creates a body that a transport delivers.
        public init(source: any BodySource) { self.init(source: source, record: PlainRecord()) }

        init(source: any BodySource, record: any ReadingRecord, isOfTransport: Bool = false) {
            (self.source, self.record, self.isOfTransport) = (source, record, isOfTransport)
            ended = nil
        }

        package init(_ source: any EndedBodySource) {
            self.source = source
            record = source
            ended = source
            isOfTransport = true
        }

        /// Returns the whole body.
        /// - Parameter limit: The maximum number of bytes to accept, counted after decompression. Default: `nil`, for
        ///   the request's ``TransportOptions/maximumBodyBytes``.
        /// - Throws: ``NetworkError/Code/bodyTooLarge`` above the limit. The rest of the body is then not read.
        ///   ``NetworkError/Code/bodyAlreadyRead`` for a second reading. `CancellationError` in a cancelled task.
        public func collect(upTo limit: Int? = nil) async throws -> Data {
            guard record.reading.begin() else { throw NetworkError.bodyReadTwice }
            do {
                // Sources need not expect a limit below 0.
                let bytes = try await source.collect(upTo: limit.map { Swift.max(0, $0) })
                record.reading.end(bytes.isEmpty ? .end : .whole)
                return bytes
            } catch {
                record.reading.end(.failure)
                throw NetworkError.thrown(error)
            }
        }

        /// Returns an iterator over the chunks.
        public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(source: source, record: record) }

        /// The trailer fields after the body, once it has ended; empty if there were none. `nil` before the end, and if
        /// the transport does not support trailers (``TransportCapabilities/Capability/trailers``).
        public var trailers: HTTPFields? { source.trailers }

        /// Returns the body with each of its errors as a closure completes it.
        func naming(_ named: @escaping @Sendable (any Error) -> any Error) -> Body {
            let source = AroundBody(source) { read in do { return try await read() } catch { throw named(error) } }
            return Body(source: source, record: record)
        }

        /// Returns the body over another source made of its own, unless its source is a transport's.
        func withForeignSource(as make: (any BodySource) -> any BodySource) -> Body {
            isOfTransport ? self : Body(source: make(source), record: record)
        }

        func following(rounds count: Int, repeats: Int, of time: Duration) -> Body {
            let source = AroundBody(source, metrics: { $0.following(rounds: count, repeats: repeats, of: time) })
            return Body(source: source, record: record)
        }

        var metrics: TransportMetrics { source.metrics }
        var unreadMetrics: (any UnreadMetrics)? { ended?.unreadMetrics }

        /// An iterator over the chunks of a body.
        public struct AsyncIterator: AsyncIteratorProtocol, SafelyPrinted {
            fileprivate let source: any BodySource
            fileprivate let record: any ReadingRecord
            private var isOver = false

            fileprivate init(source: any BodySource, record: any ReadingRecord) {
                (self.source, self.record) = (source, record)
            }

            /// Returns the next chunk, or `nil` at the end.
            /// - Throws: ``NetworkError``, once; ``NetworkError/Code/bodyAlreadyRead`` for a second reading;
            ///   `CancellationError` in a cancelled task.
            public mutating func next() async throws -> Data? {
                guard !isOver else { return nil }
                guard record.reading.begin() else {
                    isOver = true
                    throw NetworkError.bodyReadTwice
                }
                do {
                    if let chunk = try await source.next() {
                        record.reading.end(.chunk)
                        return chunk
                    }
                } catch {
                    isOver = true
                    record.reading.end(.failure)
                    throw NetworkError.thrown(error)
                }
                isOver = true
                record.reading.end(.end)
                return nil
            }
        }
    }

    /// The source of a body, for authors of transports.
    ///
    /// When the last reference is released before the end, the exchange must end.
    public protocol BodySource: AnyObject, Sendable {
        /// Returns the next bytes, never empty, or `nil` at the end and after an error.
        func next() async throws -> Data?
        /// Returns the rest of the body up to a limit in bytes; `nil` stands for the limit of the request. A larger
        /// body throws ``NetworkError/Code/bodyTooLarge``, and the exchange must end then: code that abandons a
        /// response relies on it.
        func collect(upTo limit: Int?) async throws -> Data
        /// The metrics of the exchange so far; complete once the body has ended, and the request's body too: a server
        /// may respond before it has the whole request.
        var metrics: TransportMetrics { get }
        /// The trailer fields; see ``TransportResponse/Body/trailers``.
        var trailers: HTTPFields? { get }
    }
}

/// Who reads a body, the same for a body and for those that wrap it.
package protocol ReadingRecord: AnyObject, Sendable {
    var reading: ReaderClaim { get }
    /// Ends the reading of the stream of the request's body: the request may be sent again, and its stream is read once
    /// at a time. It does not keep the response's body. `nil` if the stream had been read when the head came.
    var stopSending: (@Sendable () -> Void)? { get }
}

/// The record of a body that knows nothing of its request.
private final class PlainRecord: ReadingRecord {
    let reading = ReaderClaim()
    var stopSending: (@Sendable () -> Void)? { nil }
}

/// Whether a body is being read, or has been read to its end.
package final class ReaderClaim: Sendable {
    private enum Phase {
        static let reading: UInt8 = 1, over: UInt8 = 2, hadBytes: UInt8 = 4
    }

    enum Outcome { case chunk, whole, end, failure }

    private let phase = Atomic<UInt8>(0)

    package init() {}

    func begin() -> Bool {
        let before = phase.bitwiseOr(Phase.reading, ordering: .acquiringAndReleasing).oldValue
        if before & Phase.over != 0 { phase.bitwiseAnd(~Phase.reading, ordering: .releasing) }
        return before & (Phase.reading | Phase.over) == 0
    }

    /// Ends a reading that has begun. A body without bytes can be read again.
    func end(_ outcome: Outcome) {
        switch outcome {
        case .chunk: phase.store(Phase.hadBytes, ordering: .releasing)
        case .whole, .failure: phase.store(Phase.over, ordering: .releasing)
        case .end:
            let hadBytes = phase.load(ordering: .relaxed) & Phase.hadBytes != 0
            phase.store(hadBytes ? Phase.over : 0, ordering: .releasing)
        }
    }
}

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

/// A body with a closure around each reading of its source, and one that completes the metrics.
final class AroundBody: TransportResponse.BodySource {
    typealias Read = @Sendable () async throws -> Data?

    private let source: any TransportResponse.BodySource
    private let around: @Sendable (@escaping Read) async throws -> Data?
    private let completed: @Sendable (TransportMetrics) -> TransportMetrics

    init(
        _ source: any TransportResponse.BodySource,
        reading around: @escaping @Sendable (@escaping Read) async throws -> Data? = { try await $0() },
        metrics completed: @escaping @Sendable (TransportMetrics) -> TransportMetrics = { $0 }
    ) {
        (self.source, self.around, self.completed) = (source, around, completed)
    }

    func next() async throws -> Data? { try await around { [source] in try await source.next() } }

    func collect(upTo limit: Int?) async throws -> Data {
        try await around { [source] in try await source.collect(upTo: limit) } ?? Data()
    }

    var metrics: TransportMetrics { completed(source.metrics) }
    var trailers: HTTPFields? { source.trailers }
}

extension NetworkError {
    package static func bodyTooLarge(limit: Int) -> NetworkError {
        NetworkError(
            .bodyTooLarge,
            "the body is larger than the limit of \(limit) bytes after decompression (maximumBodyBytes)",
            phase: .receiving
        )
    }

    package static var bodyReadTwice: NetworkError {
        NetworkError(
            .bodyAlreadyRead,
            "the response's body has been read, or has a reader, and it can be read once; an interceptor that reads it "
                + "returns a response with the bytes",
            phase: .receiving)
    }
}
