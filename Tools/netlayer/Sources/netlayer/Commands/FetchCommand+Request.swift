import Foundation
import Logging
import NetworkLayer

extension FetchCommand {
    /// Returns the request that the options describe.
    /// - Throws: ``NetworkError`` for a request that can't be sent; ``ToolFailure`` for a file that can't be read.
    func request() async throws -> TransportRequest {
        var request = try await request(
            to: url, form: try delivery.content(), cookies: pipeline.cookieField, files: InputFiles())
        request.options.totalTimeout = try OptionChecks.timeout(timeout, "--timeout")
        if let maxBody { request.options.maximumBodyBytes = maxBody }
        if verbose {
            var logger = Logger(label: "wire") { _ in WireLines() }
            logger.logLevel = .debug
            request.options.wireLog = WireLog(logger)
        }
        return request
    }
}

/// Writes the lines of a wire log to standard error as they are.
private struct WireLines: LogHandler {
    var metadata: Logger.Metadata = [:]
    var logLevel = Logger.Level.debug

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        // An error on standard error can't be reported anywhere.
        try? FileHandle.standardError.write(contentsOf: Data("\(event.message)\n".utf8))
    }
}
