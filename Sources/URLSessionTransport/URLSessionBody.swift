import Foundation
import NetworkCore

/// The body of a response over URLSession, from its reader's side. Releasing it before the end ends the exchange.
final class URLSessionBody: TransportResponse.BodySource {
    private let exchange: Exchange
    private let transport: String

    init(_ exchange: Exchange, transport: String) {
        self.exchange = exchange
        self.transport = transport
    }

    deinit { exchange.discard() }

    func next() async throws -> Data? {
        do { return try await exchange.read() } catch { throw inExchange(error) }
    }

    func collect(upTo limit: Int?) async throws -> Data {
        do { return try await exchange.collect(upTo: limit) ?? Data() } catch { throw inExchange(error) }
    }

    var metrics: TransportMetrics { exchange.metrics }

    var trailers: HTTPFields? { nil }

    private func inExchange(_ error: any Error) -> any Error {
        guard let error = error as? NetworkError else { return error }
        return error.during(exchange.request, transport: transport, elapsed: exchange.metrics.total)
    }
}
