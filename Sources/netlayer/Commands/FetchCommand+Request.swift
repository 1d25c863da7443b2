import NetworkLayer

extension FetchCommand {
    /// Returns the request that the options describe.
    /// - Throws: ``NetworkError`` for a request that can't be sent; ``ToolFailure`` for a file that can't be read.
    func request() async throws -> TransportRequest {
        var request = try await request(
            to: url, form: try delivery.content(), cookies: pipeline.cookieField, files: InputFiles())
        request.options.totalTimeout = try OptionChecks.timeout(timeout, "--timeout")
        if let maxBody { request.options.maximumBodyBytes = maxBody }
        return request
    }
}
