extension RequestContent {
    /// The same content, whose body tells how much of it was handed to the transport; see
    /// ``TransportRequest/Body/reporting(_:)``. A multipart form's progress is that of all of its parts together.
    public func reporting(_ report: @escaping @Sendable (TransferProgress) -> Void) -> RequestContent {
        RequestContent(ReportingContent(content: self, report: report))
    }
}

private struct ReportingContent: ContentEncoder {
    let content: RequestContent
    let report: @Sendable (TransferProgress) -> Void

    func encode() throws -> RequestContent.Encoded {
        var encoded = try content.encoded()
        encoded.body = encoded.body.reporting(report)
        return encoded
    }
}
