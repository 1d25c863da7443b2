import Foundation
import NetworkLayer
import NetworkTesting
import TestSupport
import Testing

@testable import CurlTransport

@Suite(.enabled(if: Peers.tlsPort != nil, Peers.absence(of: Peers.tlsVariable)), .patience(minutes: 1))
struct TLSSurplusTests {
    /// Sends a request twice over one dispatcher, to a server that sends another response after the body of the first
    /// one.
    private func check(_ url: (TLSFront) throws -> RequestURL, _ change: (inout TransportOptions, TLSFront) -> Void)
        async throws
    {
        let gate = Gate()
        let server = try ScriptedServer(
            [
                .read, .send("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n"), .wait(until: gate),
                .send("firstHTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nforged"), .stall,
            ], .ok("honest"))
        defer { server.stop() }
        let front = try TLSFront(to: server)
        let dispatcher = CurlNetworkDispatcher()
        var request = TransportRequest(url: try url(front))
        request.options.totalTimeout = .seconds(30 * patienceFactor)
        change(&request.options, front)
        let first = try await dispatcher.send(request)
        gate.open()
        #expect(try await first.body.collect() == Data("first".utf8))
        let second = try await dispatcher.send(request)
        #expect(try await second.body.collect() == Data("honest".utf8))
        withExtendedLifetime(front) {}
    }

    /// Bytes in one record with a body are decrypted with it, and wait in the TLS library rather than in a socket.
    @Test func `bytes after a body in its TLS record are no response to the next request`() async throws {
        try await check({ try $0.url }) { options, _ in options.trustPeers() }
    }

    /// Bytes after a response wait in the TLS session with the proxy, which nothing can query for them.
    @Test func `bytes after a body from a proxy that speaks TLS are no response to the next request`() async throws {
        try await check({ _ in try RequestURL("http://a.test/") }) { $0.proxy = .explicit($1.proxy) }
    }

    /// The end of a connection is the end of such a body only if TLS signals it (RFC 9112 §9.8): anything on the way
    /// can cut the body off.
    @Test(.enabled(if: TLSGuard.isBounded, "needs OpenSSL's options"), arguments: ["", "Connection: close\r\n"])
    func `a truncated body without a length is an error`(field: String) async throws {
        let server = try ScriptedServer(.raw("HTTP/1.1 200 OK\r\n\(field)\r\n[\"a part\","))
        defer { server.stop() }
        let front = try TLSFront(to: server)
        let dispatcher = CurlNetworkDispatcher()
        let url = try front.url
        await expectFailure(.truncatedBody) { try await Exchange(url, over: dispatcher) { $0.trustPeers() } }
        withExtendedLifetime(front) {}
    }

    /// libcurl reuses a kept connection regardless of the authority that verified its proxy's certificate.
    @Test func `a connection to a proxy serves no request that does not trust the proxy`() async throws {
        let server = try ScriptedServer(.ok("trusted"), .ok("never"))
        defer { server.stop() }
        let front = try TLSFront(to: server)
        var proxy = front.proxy
        let dispatcher = CurlNetworkDispatcher()
        let url = try RequestURL("http://a.test/")
        let first = try await Exchange(url, over: dispatcher) { $0.proxy = .explicit(proxy) }
        #expect(first.text == "trusted")
        proxy.authorities = .system
        await expectFailure(.certificateUntrusted) {
            try await Exchange(url, over: dispatcher) { $0.proxy = .explicit(proxy) }
        }
        #expect(server.requests.count == 1)
        withExtendedLifetime(front) {}
    }
}

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
