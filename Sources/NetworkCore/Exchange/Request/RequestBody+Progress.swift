import FoundationEssentials
import Synchronization

extension TransportRequest.Body {
    /// The same body, telling how much of it was handed to the transport.
    ///
    /// The transport holds at most some hundred kilobytes of it, so that this is close to what was sent. A body that
    /// has to be sent again begins at 0 again. It becomes a streamed one: over a transport without
    /// ``TransportCapabilities/Capability/streamedRequestBodies`` the progress is that of collecting it.
    /// - Parameter report: Called after each piece, on no particular thread. It must return soon: the upload waits for
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
