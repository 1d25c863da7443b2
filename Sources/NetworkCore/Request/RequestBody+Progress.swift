import FoundationEssentials
import Synchronization

extension RequestBody {
    /// The same body, telling how much of it was handed to the transport.
    ///
    /// The transport holds at most some hundred kilobytes of it, so that this is close to what was sent. A body that
    /// has to be sent again begins at 0 again. It becomes a streamed one, which needs
    /// ``TransportCapability/streamedRequestBodies``.
    /// - Parameter report: Called after each piece, on no particular thread. It must return soon: the upload waits for
    ///   it.
    public func reporting(_ report: @escaping @Sendable (TransferProgress) -> Void) -> RequestBody {
        let (content, length) = (content, length)
        return RequestBody(
            content: .produced(
                BodyProducer(length: length, isReplayable: isReplayable) { deliver in
                    let sent = Guarded(0)
                    report(TransferProgress(completed: 0, total: length))
                    try await content.pieces { piece in
                        try await deliver(piece)
                        let completed = sent.withLock { sent in
                            sent += piece.count
                            return sent
                        }
                        report(TransferProgress(completed: completed, total: length))
                    }
                }
            )
        )
    }

    /// The same body, with a sequence of its progress.
    ///
    /// The sequence ends when the request and its body are gone. A reader that is slow misses steps in between.
    public func withProgress() -> (body: RequestBody, progress: AsyncStream<TransferProgress>) {
        let (steps, continuation) = AsyncStream<TransferProgress>.makeStream(bufferingPolicy: .bufferingNewest(1))
        let end = EndOfProgress(continuation)
        return (reporting { end.continuation.yield($0) }, steps)
    }
}

/// Ends a sequence with the last body that could report to it.
private final class EndOfProgress: Sendable {
    let continuation: AsyncStream<TransferProgress>.Continuation

    init(_ continuation: AsyncStream<TransferProgress>.Continuation) { self.continuation = continuation }

    deinit { continuation.finish() }
}

extension RequestBody.Content {
    private static var pieceBytes: Int { 65_536 }

    /// Hands out the body piece by piece.
    fileprivate func pieces(_ deliver: @Sendable (Data) async throws -> Void) async throws {
        switch self {
        case .produced(let producer): try await producer.run(deliver)
        case .bytes(let bytes):
            var rest = bytes
            while !rest.isEmpty {
                try await deliver(rest.prefix(Self.pieceBytes))
                rest = rest.dropFirst(Self.pieceBytes)
            }
        }
    }
}
