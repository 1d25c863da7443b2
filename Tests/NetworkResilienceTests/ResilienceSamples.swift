import CurlTransport
import NetworkCore
import NetworkResilience

/// The samples of 'Servers that fail', verbatim. `DocumentationTests` compares the two.
private func standard() -> NetworkClient {
    let orders = NetworkClient(transport: CurlNetworkDispatcher.shared, baseURL: "http://orders:8080").resilient()
    return orders
}

private func allAddresses() -> NetworkClient {
    let balanced = NetworkClient(transport: CurlNetworkDispatcher.shared, baseURL: "http://orders:8080")
        .balanced().resilient()
    return balanced
}

private func own(_ client: NetworkClient, lastKnown: TransportResponse) -> NetworkClient {
    var resilience = Resilience.standard
    resilience.rate = RateLimit(50, per: .seconds(1), burst: 10)
    resilience.concurrency = ConcurrencyLimit(.fixed(20), by: .route)
    resilience.hedgingPercentile = 0.95
    var search = client.resilient(resilience)
    search.interceptors.insert(Fallback { _, _ in lastKnown }, at: 0)
    return search
}
