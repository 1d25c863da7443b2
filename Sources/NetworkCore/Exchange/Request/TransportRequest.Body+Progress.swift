package import FoundationEssentials
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
        let length = length
        return witnessed {
            let sent = Guarded(0)
            report(TransferProgress(completed: 0, total: length))
            return { piece in
                let completed = sent.withLock { sent in
                    sent += piece.count
                    return sent
                }
                report(TransferProgress(completed: completed, total: length))
            }
        }
    }

    /// Returns the same body, streamed, with a witness of what the transport takes.
    /// - Parameter begin: Called each time the body is sent from its start; the closure that it returns sees each piece
    ///   that the transport has taken in this reading. The reading before may still go on, and has its own closure.
    package func witnessed(
        _ begin: @escaping @Sendable () -> (@Sendable (Data) -> Void)
    ) -> TransportRequest.Body {
        let body = self
        return TransportRequest.Body(
            content: .produced(
                BodyProducer(length: length, isReplayable: isReplayable) { deliver in
                    let see = begin()
                    try await body.read { piece in
                        try await deliver(piece)
                        see(piece)
                    }
                }
            )
        )
    }
}
