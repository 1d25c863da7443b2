import FoundationEssentials
import Synchronization

extension RequestBody {
    /// The same body, telling how much of it was handed to the transport.
    ///
    /// The transport holds at most some hundred kilobytes of it, so that this is close to what was sent. A body that
    /// has to be sent again begins at 0 again. It becomes a streamed one: over a transport without
    /// ``TransportCapability/streamedRequestBodies`` the progress is that of collecting it.
    /// - Parameter report: Called after each piece, on no particular thread. It must return soon: the upload waits for
    ///   it.
    public func reporting(_ report: @escaping @Sendable (TransferProgress) -> Void) -> RequestBody {
        let (body, length) = (self, length)
        return RequestBody(
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

extension RequestContent {
    /// The same content, whose body tells how much of it was handed to the transport; see
    /// ``RequestBody/reporting(_:)``. A multipart form's progress is that of all of its parts together.
    public func reporting(_ report: @escaping @Sendable (TransferProgress) -> Void) -> RequestContent {
        RequestContent(ReportingContent(content: self, report: report))
    }
}

private struct ReportingContent: ContentEncoder {
    let content: RequestContent
    let report: @Sendable (TransferProgress) -> Void

    func encode() throws -> EncodedContent {
        var encoded = try content.encoded()
        encoded.body = encoded.body.reporting(report)
        return encoded
    }
}
