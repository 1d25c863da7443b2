import Foundation
import NetworkLayer

extension FetchCommand {
    /// Returns the request that the options describe.
    /// - Throws: ``NetworkError`` for a request that can't be sent; ``ToolFailure`` for a file that can't be read.
    func request() async throws -> TransportRequest {
        var request = try TransportRequest(to: url)
        for header in headers {
            let (name, value) = header.splitAtColon
            request.headerFields.append(try HTTPField(checking: name, value: value))
        }
        if let cookies = pipeline.cookieField {
            request.headerFields.append(try HTTPField(checking: "Cookie", value: cookies))
        }
        if let dataFile {
            request.body = .bytes(Data(try await ByteSource(path: dataFile).readAll(limit: Self.maximumRequestBytes)))
        } else if let text = data ?? dataRaw {
            request.body = .bytes(Data(text.utf8))
        } else if let form = try delivery.content() {
            request.body = form.body
            if let type = form.contentType, !request.headerFields.contains(.contentType) {
                request.headerFields.append(try HTTPField(checking: "Content-Type", value: type))
            }
        }
        request.method = try method.map { try HTTPRequest.Method(checking: $0) } ?? (request.body == nil ? .get : .post)
        request.options.totalTimeout = try OptionChecks.timeout(timeout, "--timeout")
        request.options.decompress = !raw
        if let maxBody { request.options.maximumBodyBytes = maxBody }
        try connection.apply(to: &request.options)
        tls.apply(to: &request.options)
        try proxy.apply(to: &request.options)
        try exchangeOptions.apply(to: &request)
        return request
    }
}
