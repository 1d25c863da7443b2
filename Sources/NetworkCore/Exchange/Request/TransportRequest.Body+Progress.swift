import FoundationEssentials
import Synchronization

extension TransportRequest.Body {
    /// Returns the same body with a closure that receives its progress: the number of bytes passed to the transport.
    ///
    /// The transport holds at most a few hundred kilobytes of the body, so the progress is close to what was sent. A
    /// body that has to be sent again starts at 0 again. The result is a streamed body: over a transport without
    /// ``TransportCapabilities/Capability/streamedRequestBodies``, the progress is that of collecting it.
    /// - Parameter report: Called after each chunk, on any thread. It must return soon, because the upload waits for
    ///   it.
    public func reporting(_ report: @escaping @Sendable (TransferProgress) -> Void) -> TransportRequest.Body {
        let (body, length) = (self, length)
        return TransportRequest.Body(
            content: .produced(
                BodyProducer(length: length, isReplayable: isReplayable) { deliver in
                    let sent = Guarded(0)
                    report(TransferProgress(completed: 0, total: length))
                    try await body.read { piece in
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
}
