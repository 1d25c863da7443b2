extension RequestContent {
    /// Returns the same content with a body that reports how much of it has gone to the transport; see
    /// ``TransportRequest/Body/reporting(_:)``. The progress of a multipart form is that of all its parts together.
    public func reporting(_ report: @escaping @Sendable (TransferProgress) -> Void) -> RequestContent {
        RequestContent(ReportingContent(content: self, report: report))
    }
}

private struct ReportingContent: ClientBodyEncoder {
    let content: RequestContent
    let report: @Sendable (TransferProgress) -> Void

    func encode(by defaults: RequestContent.Defaults) throws -> RequestContent.Encoded {
        var encoded = try content.encoded(by: defaults)
        encoded.body = encoded.body.reporting(report)
        return encoded
    }
}
