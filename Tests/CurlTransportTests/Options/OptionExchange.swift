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
        over dispatcher: CurlNetworkDispatcher = .shared,
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

    /// Returns the error of a request through a proxy that does not open the way.
    static func failure(
        through proxy: TransportOptions.Proxy.Server, over dispatcher: CurlNetworkDispatcher = CurlNetworkDispatcher()
    ) async -> NetworkError? {
        do {
            _ = try await OptionExchange("http://example.invalid/", over: dispatcher) { $0.proxy = .explicit(proxy) }
            return nil
        } catch { return error as? NetworkError }
    }
}

extension TransportOptions.Proxy.Server {
    /// Returns a proxy with credentials for its challenge.
    static func digest(at url: String) -> Self {
        var proxy = Self(url, user: "me", password: "pw")
        proxy.authenticationScheme = .digest
        return proxy
    }
}
