import Foundation
import NetworkLayer
import TestSupport
import Testing

/// Serialized, because the server counts the DNS queries of all tests.
@Suite(
    .enabled(if: Peers.tlsPort != nil, Peers.absence(of: Peers.tlsVariable)), .patience(minutes: 1), .serialized)
struct NameTests {
    /// The number of queries that the server has received. One lookup takes a query for IPv4 and one for IPv6.
    private func questions() throws -> Int {
        let log = String(decoding: try Peers.tlsFile("http2.log"), as: UTF8.self)
        return log.split(separator: "\n").filter { $0 == "/dns-answer" || $0 == "/dns-query" }.count
    }

    @Test func `names are looked up over HTTPS, and cached for the given time`() async throws {
        let dns = try Peers.url(.http2, "/dns-query").absoluteString
        let dispatcher = CurlNetworkDispatcher()
        func ask(rememberingFor time: Duration) async throws -> Exchange {
            try await Exchange(.good, host: "doh.test", over: dispatcher) {
                $0.tls.serverName = "localhost"
                $0.names.dnsOverHTTPS = dns
                $0.names.cacheTime = time
                $0.connection.isFresh = true
            }
        }
        let start = try questions()
        for _ in 1...3 { #expect(try await ask(rememberingFor: .seconds(60)).status == 200) }
        let remembered = try questions() - start
        for _ in 1...3 { #expect(try await ask(rememberingFor: .zero).status == 200) }
        let forgotten = try questions() - start - remembered
        // A lookup takes two queries. libcurl may send those of the first one twice: the server responds before it has
        // read them.
        #expect([2, 4].contains(remembered) && forgotten == 6)
    }

    /// libcurl speaks HTTP/2 to a resolver, even in versions that may mix up HTTP/2 bodies.
    @Test func `the connection to a resolver serves no request`() async throws {
        let dns = try Peers.url(.http2, "/dns-query").absoluteString
        let dispatcher = CurlNetworkDispatcher()
        func ask(_ url: RequestURL) async throws -> TransportMetrics {
            try await Exchange(url, over: dispatcher) {
                $0.trustPeers()
                if url.host != "localhost" { $0.tls.serverName = "localhost" }
                $0.names.dnsOverHTTPS = dns
                $0.httpVersion = .http1_1
            }.metrics
        }
        _ = try await ask(Peers.url(.good, host: "doh.test"))
        let metrics = try await ask(Peers.url(.http2))
        #expect(metrics.httpVersion == "1.1")
        #expect(metrics.connectionReused == false)
    }
}
