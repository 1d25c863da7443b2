import Foundation
import NetworkCore
import NetworkTesting
import Testing

@testable import CurlTransport

/// One exchange over a curl dispatcher, to its end.
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

/// Expects a `NetworkError` with a code.
/// - Returns: The error, for closer looks.
@discardableResult
func expectFailure<Value>(
    _ code: NetworkError.Code,
    sourceLocation: SourceLocation = #_sourceLocation,
    from body: () async throws -> Value
) async -> NetworkError? {
    do {
        _ = try await body()
        Issue.record("'\(code.rawValue)' was expected, and it succeeded", sourceLocation: sourceLocation)
        return nil
    } catch {
        let error = error as? NetworkError
        #expect(error?.code == code, "\(String(describing: error))", sourceLocation: sourceLocation)
        return error
    }
}
