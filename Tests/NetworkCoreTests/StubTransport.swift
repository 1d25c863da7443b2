import Foundation
import NetworkCore
import Synchronization

/// A transport that answers the same to everything and keeps what it was asked.
final class StubTransport: HTTPTransport {
    let name = "stub"
    let capabilities = TransportCapabilities(transport: "stub", basis: "a test", supported: [])
    let requests = Guarded<[TransportRequest]>([])

    private let head: HTTPResponse
    private let body: Data

    init(status: Int = 200, fields: HTTPFields = [:], body: String) {
        head = HTTPResponse(status: .init(code: status), headerFields: fields)
        self.body = Data(body.utf8)
    }

    init(fields: HTTPFields, bytes: Data) {
        head = HTTPResponse(status: .ok, headerFields: fields)
        body = bytes
    }

    func send(_ request: TransportRequest) async throws -> TransportResponse {
        try request.check(for: capabilities)
        requests.withLock { $0.append(request) }
        return TransportResponse(
            head: head, body: ResponseBody(body), metrics: TransportMetrics(total: .milliseconds(3)))
    }
}
