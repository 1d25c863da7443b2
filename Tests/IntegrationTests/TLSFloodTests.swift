import Foundation
import NetworkLayer
import NetworkTesting
import TestSupport
import Testing

@testable import CurlTransport

@Suite(
    .enabled(if: Peers.tlsPort != nil, Peers.absence(of: Peers.tlsVariable)),
    .enabled(if: TLSGuard.isBounded, "only OpenSSL reports them, and libcurl uses another library"),
    .patience(minutes: 1))
struct TLSFloodTests {
    @Test func `endless session tickets fail their request and delay no other`() async throws {
        let flood = try TLSPeer("tls-flood")
        let server = try ScriptedServer(.ok("well"))
        defer { server.stop() }
        let dispatcher = CurlNetworkDispatcher()
        let (url, other) = (try flood.url, try RequestURL(server.url()))
        async let failure = expectFailure(.tlsFailed) { try await Exchange(url, over: dispatcher) { $0.trustPeers() } }
        for _ in 0..<8 { #expect(try await Exchange(other, over: dispatcher).text == "well") }
        #expect(await failure?.message.contains("TLS records without data") == true)
        withExtendedLifetime(flood) {}
    }

    /// Regression: for libcurl, a read that finds the socket empty in the middle of a record is no failure, whatever
    /// OpenSSL reports. The flood's error was lost there, and the end of the connection was taken for the end of the
    /// response.
    @Test func `session tickets that arrive in halves fail their request with the same error`() async throws {
        let flood = try TLSPeer("tls-flood", options: ["halves"])
        let dispatcher = CurlNetworkDispatcher()
        let url = try flood.url
        let failure = await expectFailure(.tlsFailed) {
            try await Exchange(url, over: dispatcher) {
                $0.trustPeers()
                // The server pauses between any two of a thousand halves, and then waits for a core.
                $0.totalTimeout = .seconds(30 * patienceFactor)
            }
        }
        #expect(failure?.message.contains("TLS records without data") == true)
        withExtendedLifetime(flood) {}
    }

    /// Nothing is read from a connection opened ahead until a request goes out.
    @Test func `endless session tickets fail the request over a connection opened ahead`() async throws {
        let flood = try TLSPeer("tls-flood")
        let dispatcher = CurlNetworkDispatcher()
        let url = try flood.url
        var options = TransportOptions()
        options.trustPeers()
        try await dispatcher.prewarm(url, options: options)
        await expectFailure(.tlsFailed) { try await Exchange(url, over: dispatcher) { $0.trustPeers() } }
        withExtendedLifetime(flood) {}
    }

    /// The count of a connection continues from one request to the next, so data must reduce what a handshake has
    /// added.
    @Test func `ordinary requests over one connection never add up to a flood`() async throws {
        let dispatcher = CurlNetworkDispatcher()
        var connections: Set<String> = []
        for _ in 0..<600 {
            let exchange = try await Exchange(.good, "/hello.txt", over: dispatcher)
            #expect(exchange.text == "hello over TLS\n")
            exchange.metrics.localAddress.map { _ = connections.insert($0) }
        }
        #expect(connections.count == 1)
    }
}
