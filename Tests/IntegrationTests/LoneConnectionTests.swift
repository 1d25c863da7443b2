import Foundation
import NetworkLayer
import TestSupport
import Testing

/// Connections that some requests don't share with others, at a server that speaks HTTP/2.
@Suite(.enabled(if: Peers.tlsPort != nil, Peers.absence(of: Peers.tlsVariable)), .patience(minutes: 1))
struct LoneConnectionTests {
    private let dispatcher = CurlNetworkDispatcher()

    private func start(_ path: String, _ change: (inout TransportOptions) -> Void) async throws -> TransportResponse {
        var request = TransportRequest(url: try Peers.url(.http2, path))
        request.options.trustPeers()
        // By default from libcurl 8.14 on.
        (request.options.httpVersion, request.options.totalTimeout) = (.http2, .seconds(30 * patienceFactor))
        change(&request.options)
        return try await dispatcher.send(request)
    }

    private func metrics(_ change: (inout TransportOptions) -> Void) async throws -> TransportMetrics {
        try await Exchange(.http2, over: dispatcher) {
            $0.httpVersion = .http2
            change(&$0)
        }.metrics
    }

    enum Kind: CaseIterable {
        case forbidsReuse, localPorts, interface, otherSpelling

        func isOwners(_ options: inout TransportOptions) {
            if self == .otherSpelling { options.tls.ciphers = "DEFAULT:AES128-SHA" }
        }

        func isAlone(_ options: inout TransportOptions) {
            switch self {
            case .forbidsReuse: options.connection.forbidsReuse = true
            case .localPorts: options.connection.localPorts = 42_000...42_900
            case .interface: options.connection.interface = "127.0.0.1"
            case .otherSpelling: options.tls.ciphers = "DEFAULT:aes128-sha"
            }
        }
    }

    /// Regression: requests of others were streams of such a connection while it ran, and kept it in the pool.
    @Test(.curlSpeaksHTTP2, arguments: Kind.allCases)
    func `a connection has no streams of requests that differ in what makes it`(kind: Kind) async throws {
        let name = "lone-\(UUID().uuidString)"
        let file = URL(filePath: Peers.tlsFolder).appending(path: "files/\(name)")
        try Data(count: 8 << 20).write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        _ = try await metrics(kind.isOwners)
        // Its body is longer than what waits for a reader, so it runs.
        let lone = try await start("/" + name, kind.isAlone)
        for _ in 0..<3 { #expect(try await metrics(kind.isOwners).httpVersion == "2") }
        #expect(try await lone.body.collect().count == 8 << 20)
        // Those of the same kind share theirs, unless each is to have one of its own.
        let isOwn = kind == .forbidsReuse
        #expect(lone.metrics.httpVersion == (isOwn ? "1.1" : "2") && lone.metrics.connectionReused == false)
        #expect((try await metrics(kind.isAlone).localAddress == lone.metrics.localAddress) == !isOwn)
        #expect(try await metrics(kind.isOwners).localAddress != lone.metrics.localAddress)
    }

    @Test(.curlSpeaksHTTP2) func `a version without connections of one request is refused`() async throws {
        for version in [TransportOptions.HTTPVersion.http2PriorKnowledge, .http3] {
            await expectFailure(.unsupported) {
                try await start("/whoami") {
                    $0.connection.forbidsReuse = true
                    $0.httpVersion = version
                }
            }
        }
    }
}
