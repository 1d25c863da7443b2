import Foundation
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

    /// Returns how many connections to some ports of this machine are established, or not closed by their client.
    private static func connections(to servers: [ScriptedServer]) throws -> Int {
        let ports = Set(servers.map { String(format: ":%04X", Int($0.port)) })
        // The file has no length, by which other ways to read it would go.
        let file = try #require(FileHandle(forReadingAtPath: "/proc/net/tcp"))
        let table = String(decoding: try file.readToEnd() ?? Data(), as: UTF8.self)
        return table.split(separator: "\n").dropFirst().count { line in
            let fields = line.split(separator: " ", omittingEmptySubsequences: true)
            // ESTABLISHED is 1, CLOSE_WAIT 8 (tcp_states.h).
            return ports.contains { fields[2].hasSuffix($0) } && ["01", "08"].contains(fields[3])
        }
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
                #expect(try Self.connections(to: servers) == limit)
                for wave in waves { wave.goesOn.open() }
                try await group.waitForAll()
            }
            #expect(try Self.connections(to: servers) == limit)
        }
        // The latest ones are kept.
        let last = try #require(servers.last)
        #expect(last.connectionCount == 1)
        _ = await dispatcher.shutDown(within: .seconds(5))
    }

    @Test func `loops share the limit`() {
        var configuration = CurlNetworkDispatcher.Configuration()
        (configuration.maximumConnections, configuration.loops) = (10, 3)
        #expect(LoopLimits(configuration).inAll == 3)
        configuration.loops = 64
        #expect(LoopLimits(configuration).inAll == 1)
    }
}
