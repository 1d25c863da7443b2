import Foundation
import NetworkLayer
import NetworkTesting
import TestSupport
import Testing

@testable import CurlTransport

@Suite(
    .enabled(if: Peers.tlsPort != nil, Peers.absence(of: Peers.tlsVariable)),
    .enabled(if: TLSGuard.isBounded, "OpenSSL reports them, and libcurl uses another library"),
    .timeLimit(.minutes(1)))
struct TLSFloodTests {
    @Test func `session tickets without end fail their request, and hold up no other`() async throws {
        let flood = try TLSPeer("tls-flood")
        let server = try ScriptedServer(.ok("well"))
        defer { server.stop() }
        let dispatcher = CurlNetworkDispatcher()
        let (url, other) = (try RequestURL("https://localhost:\(flood.port)/"), try RequestURL(server.url()))
        async let failure = expectFailure(.tlsFailed) { try await Exchange(url, over: dispatcher) { $0.trustPeers() } }
        for _ in 0..<8 { #expect(try await Exchange(other, over: dispatcher).text == "well") }
        #expect(await failure?.message.contains("TLS records without data") == true)
        await dispatcher.shutDown(within: .zero)
        withExtendedLifetime(flood) {}
    }

    /// A read that finds the socket empty in the middle of a record is no failure for libcurl, whatever OpenSSL has to
    /// report: the flood's error was lost there, and the connection's end was taken for the response's.
    @Test func `session tickets that arrive in halves fail their request with the same error`() async throws {
        let flood = try TLSPeer("tls-flood", options: ["halves"])
        let dispatcher = CurlNetworkDispatcher()
        let url = try RequestURL("https://localhost:\(flood.port)/")
        let failure = await expectFailure(.tlsFailed) {
            try await Exchange(url, over: dispatcher) { $0.trustPeers() }
        }
        #expect(failure?.message.contains("TLS records without data") == true)
        await dispatcher.shutDown(within: .zero)
        withExtendedLifetime(flood) {}
    }

    /// A connection made ahead: nothing is read from it until a request goes out.
    @Test func `session tickets without end fail the request over a connection made ahead`() async throws {
        let flood = try TLSPeer("tls-flood")
        let dispatcher = CurlNetworkDispatcher()
        let url = try RequestURL("https://localhost:\(flood.port)/")
        var options = TransportOptions()
        options.trustPeers()
        try await dispatcher.prewarm(url, options: options)
        await expectFailure(.tlsFailed) { try await Exchange(url, over: dispatcher) { $0.trustPeers() } }
        await dispatcher.shutDown(within: .zero)
        withExtendedLifetime(flood) {}
    }

    /// The count of a connection goes on from one request to the next: data must take off what a handshake has put on.
    @Test func `ordinary requests over one connection never add up to a flood`() async throws {
        let dispatcher = CurlNetworkDispatcher()
        var connections: Set<String> = []
        for _ in 0..<600 {
            let exchange = try await Exchange(Peers.url(.good, "/hello.txt"), over: dispatcher) { $0.trustPeers() }
            #expect(exchange.text == "hello over TLS\n")
            exchange.metrics.localAddress.map { _ = connections.insert($0) }
        }
        #expect(connections.count == 1)
        await dispatcher.shutDown(within: .zero)
    }
}
