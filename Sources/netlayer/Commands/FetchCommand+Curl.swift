import NetworkLayer

extension FetchCommand {
    /// Returns the request as a curl command, with the options of more than one exchange as options of curl.
    /// - Throws: ``NetworkError`` for a request that no transport would send.
    func curlCommand(for request: TransportRequest) async throws -> String {
        var words: [String] = []
        if pipeline.location {
            words += ["--location", "--max-redirs", "\(pipeline.maxRedirects ?? RedirectPolicy.standard.maximum)"]
            // The library follows no redirect from https to http.
            if request.url.scheme == "https" { words += ["--proto-redir", "=https"] }
        }
        if pipeline.retry > 0 { words += ["--retry", "\(pipeline.retry)"] }
        if let maxBody { words += ["--max-filesize", "\(maxBody)"] }
        if fail { words.append("--fail") }
        let request = try await pipeline.adding(to: request)
        try request.check()
        return request.curlCommand(secrets: delivery.showSecrets ? .revealed : .redacted, adding: words)
    }
}

extension PipelineOptions {
    /// Returns the request with the token and the cookies that its first exchange sends.
    fileprivate func adding(to request: TransportRequest) async throws -> TransportRequest {
        var request = request
        if let token = try await token(), !request.headerFields.contains(.authorization),
            request.options.authentication == nil
        {
            request.headerFields.append(try HTTPField(checking: "Authorization", value: "Bearer \(token.value)"))
        }
        if let value = try jar()?.fieldValue(for: request.url, after: request.headerFields[.cookie]) {
            request.headerFields.removeAll { $0.name == .cookie }
            request.headerFields.append(try HTTPField(checking: "Cookie", value: value))
        }
        return request
    }
}
