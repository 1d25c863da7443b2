package import Foundation
import NetworkCore
import Synchronization

/// The bytes of an `InputStream` as chunks. The stream blocks, so it is read on a queue of its own.
///
/// A blocked read can't be interrupted. A cancelled task does not wait for it; the queue's thread does, until the
/// stream has bytes or ends.
///
/// All copies of a `URLRequest`, and all descriptions made of one, have the same stream, which can be read once. The
/// first that reads it has it; others fail.
struct InputStreamChunks: AsyncSequence, Sendable {
    typealias Element = Data

    private let source: Source

    init(_ stream: InputStream) { source = Source(stream) }

    func makeAsyncIterator() -> Iterator { Iterator(source: source) }

    struct Iterator: AsyncIteratorProtocol {
        fileprivate let source: Source

        mutating func next() async throws -> Data? { try await source.next() }
    }

    /// @unchecked: only the queue uses the stream.
    fileprivate final class Source: @unchecked Sendable {
        private static let pieceBytes = 65_536
        private let stream: InputStream
        private let queue = DispatchQueue(label: "NetworkLayer.InputStream")
        /// Whether the stream is this source's own to read.
        private var isClaimed = false

        init(_ stream: InputStream) { self.stream = stream }

        deinit { if isClaimed { stream.close() } }

        func next() async throws -> Data? {
            let piece = FirstOutcome<Data?>()
            return try await withTaskCancellationHandler {
                try await withCheckedThrowingContinuation { continuation in
                    piece.attach(continuation)
                    queue.async { piece.finish(Result { try self.read() }) }
                }
            } onCancel: {
                piece.finish(.failure(NetworkError.cancelled))
            }
        }

        private func read() throws -> Data? {
            if !isClaimed {
                guard ReadStreams.claim(stream) else { throw NetworkError.bodyTakenTwice }
                isClaimed = true
                if stream.streamStatus == .notOpen { stream.open() }
            }
            var piece = [UInt8](repeating: 0, count: Self.pieceBytes)
            let count = stream.read(into: &piece)
            if count > 0 { return Data(piece.prefix(count)) }
            if count == 0 { return nil }
            throw NetworkError(
                .unreadableFile,
                "the stream of the request's body can't be read",
                phase: .waiting,
                underlying: failure
            )
        }

        /// The stream's error. Without one, Foundation ends the process that asks for it.
        private var failure: NetworkError.Underlying? {
            guard stream.streamStatus == .error, let error = stream.streamError as NSError? else { return nil }
            return .init(domain: error.domain, code: error.code, message: error.localizedDescription)
        }
    }
}

/// The streams that have been read, over the whole process.
package enum ReadStreams {
    /// @unchecked: the stream is only compared with `nil`, and nothing reads it here.
    private struct Entry: @unchecked Sendable {
        weak var stream: InputStream?
    }

    private static let entries = Mutex<[ObjectIdentifier: Entry]>([:])

    /// The number of remembered streams, with some that are gone.
    package static var count: Int { entries.withLock(\.count) }

    /// Claims a stream for its one reader.
    /// - Returns: Whether nothing has claimed it before.
    package static func claim(_ stream: InputStream) -> Bool {
        let entry = Entry(stream: stream)
        let id = ObjectIdentifier(stream)
        return entries.withLock { entries in
            // A new stream may have the identifier of one that is gone.
            if entries[id]?.stream != nil { return false }
            if entries.count >= 64, entries.count.nonzeroBitCount == 1 {
                entries = entries.filter { $0.value.stream != nil }
            }
            entries[id] = entry
            return true
        }
    }
}
