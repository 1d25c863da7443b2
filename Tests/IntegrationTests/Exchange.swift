import Foundation
import NetworkLayer
import Testing

/// One exchange, to its end.
struct Exchange {
    let status: Int
    let text: String
    let metrics: TransportMetrics

    /// Sends over curl unless said otherwise, and trusts the peers' own authority.
    init(
        _ url: RequestURL,
        over transport: any HTTPTransport = CurlNetworkDispatcher.instance,
        options change: (inout TransportOptions) -> Void = { _ in }
    ) async throws {
        var options = TransportOptions()
        options.totalTimeout = .seconds(30)
        change(&options)
        let response = try await transport.send(TransportRequest(url: url, options: options))
        text = String(decoding: try await response.body.collect(), as: UTF8.self)
        status = response.head.status.code
        metrics = response.metrics
    }
}

extension TransportOptions {
    /// Trusts the authority that the peers made.
    mutating func trustPeers() { tls.authorities = .file(Peers.tlsFolder + "/ca.pem") }
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
