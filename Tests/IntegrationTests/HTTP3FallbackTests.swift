import Foundation
import NetworkLayer
import NetworkTesting
import TestSupport
import Testing

/// What becomes of requests for HTTP/3 where QUIC does not get through, and of those that a server invites to HTTP/3.
@Suite(.enabled(if: Peers.caddyPort != nil, Peers.absence(of: Peers.caddyVariable)), .patience(minutes: 1))
struct HTTP3FallbackTests {
    private static func upgrading(_ port: Int) throws -> HTTP3Client {
        var configuration = CurlNetworkDispatcher.Configuration()
        configuration.upgradesToHTTP3 = true
        return try HTTP3Client(port, version: .automatic, configuration: configuration)
    }

    enum Obstacle: CaseIterable { case refused, silent }

    /// Returns a port where TCP alone gets through.
    private static func port(_ obstacle: Obstacle) throws -> (port: Int, relay: Relay?) {
        guard obstacle == .silent else { return (try Peers.port(of: .announcing), nil) }
        let relay = try Relay(to: Peers.port(of: .good))
        try relay.drop()
        return (relay.port, relay)
    }

    @Test(.curlSpeaksHTTP3, arguments: Obstacle.allCases)
    func `where UDP does not get through, HTTP 2 responds`(obstacle: Obstacle) async throws {
        let (port, relay) = try Self.port(obstacle)
        var client = try HTTP3Client(port, version: .http3)
        client.patience = nil
        for isFirst in [true, false, false] {
            let exchange = try await client.send()
            #expect(exchange.status == 200 && exchange.metrics.httpVersion == "2")
            // The second one is no request for HTTP/3 any more, and has a connection of its own.
            if isFirst { continue }
            let datagrams = try relay?.datagrams
            #expect(try await client.send { $0.connection.isFresh = true }.metrics.httpVersion == "2")
            #expect(try relay?.datagrams == datagrams)
        }
    }

    /// Many at once pay for one attempt.
    @Test(.curlSpeaksHTTP3) func `a burst falls back as one`() async throws {
        let (port, relay) = try Self.port(.silent)
        var client = try HTTP3Client(port, version: .http3)
        client.patience = nil
        let exchanges = try await atOnce(50) { [client] _ in try await client.send() }
        #expect(exchanges.allSatisfy { $0.metrics.httpVersion == "2" })
        #expect(exchanges.connections.count == 1)
        #expect(try (1...10).contains(#require(try relay?.datagrams)))
    }

    @Test(.curlSpeaksHTTP3, arguments: Obstacle.allCases)
    func `HTTP 3 alone fails, and the error names QUIC`(obstacle: Obstacle) async throws {
        let (port, relay) = try Self.port(obstacle)
        let code: NetworkError.Code = obstacle == .refused ? .connectFailed : .connectTimeout
        let error = await expectFailure(code, in: .connecting) {
            try await HTTP3Client(port).send { $0.connectTimeout = .milliseconds(400) }
        }
        #expect(error?.message.contains("HTTP/3 needs UDP to its port") == true)
        withExtendedLifetime(relay) {}
    }

    @Test(.curlSpeaksHTTP3) func `a server that is not there is one over QUIC and over TCP`() async throws {
        let error = await expectFailure(.connectFailed, in: .connecting) {
            try await HTTP3Client(1, version: .http3).send()
        }
        #expect(error?.message.contains("neither over QUIC (HTTP/3) nor over TCP") == true)
    }

    /// A path that is lost under a connection: its requests fail, those after them go over TCP.
    @Test(.curlSpeaksHTTP3) func `after UDP has stopped, the next request goes over TCP`() async throws {
        let relay = try Relay(to: Peers.port(of: .good))
        let client = try HTTP3Client(relay.port, version: .http3)
        #expect(try await client.send().metrics.httpVersion == "3")
        try relay.drop()
        await expectFailure(.firstByteTimeout) { try await client.send { $0.firstByteTimeout = .milliseconds(500) } }
        #expect(try await client.send().metrics.httpVersion == "2")
    }

    // MARK: Alt-Svc

    @Test(.curlSpeaksHTTP3) func `a server's announcement is taken up where the configuration says so`() async throws {
        let port = try Peers.port(of: .good)
        let (client, other) = (try Self.upgrading(port), try HTTP3Client(port, version: .automatic))
        var versions: [String?] = []
        for _ in 0..<3 { versions.append(try await client.send().metrics.httpVersion) }
        #expect(versions == ["2", "3", "3"])
        for _ in 0..<3 { #expect(try await other.send().metrics.httpVersion == "2") }
        // Who asks for a version has it.
        #expect(try await client.send { $0.httpVersion = .http2 }.metrics.httpVersion == "2")
        // What makes another connection has heard no announcement.
        let exchange = try await client.send { $0.connection.interface = "127.0.0.1" }
        #expect(exchange.metrics.httpVersion == "2")
    }

    /// The announcement is untrue: nothing is there over UDP.
    @Test(.curlSpeaksHTTP3) func `an announcement that does not hold costs one attempt`() async throws {
        let client = try Self.upgrading(Peers.port(of: .announcing))
        var exchanges: [Exchange] = []
        for _ in 0..<6 { exchanges.append(try await client.send()) }
        #expect(exchanges.allSatisfy { $0.status == 200 && $0.metrics.httpVersion == "2" })
        // The first connection, and the one of the attempt.
        #expect(exchanges.map(\.metrics.connectionReused) == [false, false, true, true, true, true])
    }

    @Test(.curlSpeaksHTTP3) func `a port that the announcement does not name is not asked`() async throws {
        let relay = try Relay(to: Peers.port(of: .good))
        let client = try Self.upgrading(relay.port)
        for _ in 0..<3 { #expect(try await client.send().metrics.httpVersion == "2") }
        #expect(try relay.datagrams == 0)
    }
}
