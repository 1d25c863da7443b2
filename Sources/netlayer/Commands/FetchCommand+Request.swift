import Foundation
import NetworkLayer

extension FetchCommand {
    /// Returns the request that the options describe.
    /// - Throws: ``NetworkError`` for a request that can't be sent; ``ToolFailure`` for a file that can't be read.
    func request() async throws -> TransportRequest {
        var request = try TransportRequest(to: url)
        for header in headers {
            let parts = header.utf8.split(separator: UInt8(ascii: ":"), maxSplits: 1, omittingEmptySubsequences: false)
                .map { String(Substring($0)) }
            request.headerFields.append(
                try HTTPField(checking: parts[0], value: parts.count > 1 ? parts[1] : "")
            )
        }
        if let cookies = pipeline.cookieField {
            request.headerFields.append(try HTTPField(checking: "Cookie", value: cookies))
        }
        if let data {
            request.body = .bytes(Data(data.utf8))
        } else if let dataFile {
            request.body = .bytes(Data(try await ByteSource(path: dataFile).readAll(limit: Self.maximumRequestBytes)))
        } else if let form = try delivery.content() {
            request.body = form.body
            if let type = form.contentType, !request.headerFields.contains(.contentType) {
                request.headerFields.append(try HTTPField(checking: "Content-Type", value: type))
            }
        }
        request.method = try method.map { try HTTPRequest.Method(checking: $0) } ?? (request.body == nil ? .get : .post)
        request.options.totalTimeout = try OptionChecks.timeout(timeout)
        request.options.decompress = !raw
        if let maxBody { request.options.maximumBodyBytes = maxBody }
        if let http { request.options.httpVersion = http.version }
        try exchangeOptions.apply(to: &request)
        return request
    }
}
