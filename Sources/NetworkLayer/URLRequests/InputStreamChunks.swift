import Foundation

/// The bytes of an `InputStream` as chunks. The stream blocks, so it is read on a queue of its own.
///
/// A blocked read can't be interrupted. A cancelled task does not wait for it; the queue's thread does, until the
/// stream has bytes or ends.
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

        init(_ stream: InputStream) { self.stream = stream }

        deinit { stream.close() }

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
            if stream.streamStatus == .notOpen { stream.open() }
            var piece = [UInt8](repeating: 0, count: Self.pieceBytes)
            let count = stream.read(into: &piece)
            if count > 0 { return Data(piece.prefix(count)) }
            if count == 0 { return nil }
            throw NetworkError(
                .unreadableFile,
                "the stream of the request's body can't be read",
                phase: .waiting,
                underlying: stream.streamError.map { error in
                    let error = error as NSError
                    return .init(domain: error.domain, code: error.code, message: error.localizedDescription)
                }
            )
        }
    }
}
