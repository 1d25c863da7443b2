import Foundation
import NetworkCore
import NetworkTesting

@testable import CurlTransport

/// One exchange over a curl dispatcher, with its body read to the end.
struct OptionExchange {
    let status: Int
    let text: String
    let metrics: TransportMetrics

    init(
        _ url: String,
        over dispatcher: CurlNetworkDispatcher = .instance,
        body: Data? = nil,
        options change: (inout TransportOptions) -> Void = { _ in }
    ) async throws {
        var request = TransportRequest(method: body == nil ? .get : .post, url: try RequestURL(url))
        request.body = body.map { .bytes($0) }
        request.options.totalTimeout = .seconds(30)
        change(&request.options)
        let response = try await dispatcher.send(request)
        text = String(decoding: try await response.body.collect(), as: UTF8.self)
        status = response.head.status.code
        metrics = response.metrics
    }
}
