import NetworkCore
import NetworkTesting
import TestSupport
import Testing

@testable import CurlTransport

/// Kept connections count as those in use do, so that the descriptors of a dispatcher are bounded.
@Suite("Connections and their limit", .patience(minutes: 1))
struct ConnectionLimitTests {
    private static func dispatcher(limit: Int) -> CurlNetworkDispatcher {
        var configuration = CurlNetworkDispatcher.Configuration()
        configuration.maximumConnections = limit
        return CurlNetworkDispatcher(configuration: configuration)
    }

    private static func connections(to servers: [ScriptedServer]) throws -> Int {
        try OwnSockets.connected(to: Set(servers.map { Int($0.port) })).count
    }

    /// Regression: idle connections to a thousand origins took as many descriptors as all running requests may.
    @Test(arguments: [1, 6])
    func `running requests and kept connections are no more than the limit`(limit: Int) async throws {
        let dispatcher = Self.dispatcher(limit: limit)
        var servers: [ScriptedServer] = []
        defer { for server in servers { server.stop() } }
        for _ in 0..<4 {
            let waves = try (0..<limit).map { _ in
                let (hasRead, goesOn) = (Gate(), Gate())
                let server = try ScriptedServer([
                    .read, .open(hasRead), .wait(until: goesOn),
                    .send(Script.head(200, fields: [("Content-Length", "0")])), .stall,
                ])
                return (server: server, hasRead: hasRead, goesOn: goesOn)
            }
            servers += waves.map(\.server)
            try await withThrowingTaskGroup(of: Void.self) { group in
                for wave in waves {
                    group.addTask { _ = try await OptionExchange(wave.server.url(), over: dispatcher) }
                }
                for wave in waves { try await wave.hasRead.wait() }
                // All run, next to what is kept of the earlier ones.
                let running = try Self.connections(to: servers)
                #expect(running == limit)
                for wave in waves { wave.goesOn.open() }
                try await group.waitForAll()
            }
            let kept = try Self.connections(to: servers)
            #expect(kept == limit)
        }
        // The latest ones are kept.
        let last = try #require(servers.last)
        #expect(last.connectionCount == 1)
        _ = await dispatcher.shutDown(within: .seconds(5))
    }

    @Test func `loops share the limit`() {
        var configuration = CurlNetworkDispatcher.Configuration()
        (configuration.maximumConnections, configuration.loops) = (10, 3)
        #expect(LoopLimits(configuration).ofOneLoop.inAll == 3)
        configuration.loops = 64
        #expect(LoopLimits(configuration).ofOneLoop.inAll == 1)
    }
}
