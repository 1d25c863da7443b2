import Foundation
import NetworkCore
import NetworkTesting
import Testing
import TestSupport

@testable import CurlTransport

/// The statistics of connections, queue and loop.
@Suite("Statistics")
struct StatisticsTests {
    @Test func `a dispatcher without requests has none, and neither has one that has ended`() async throws {
        let dispatcher = CurlNetworkDispatcher()
        #expect(await dispatcher.statistics == TransportStatistics())
        try await withServer(.ok("hello")) { server in
            _ = try await dispatcher.send(RequestData(path: server.url()), as: .text)
            #expect(await dispatcher.statistics.connections.opened == 1)
        }
        await dispatcher.shutDown(within: .zero)
        #expect(await dispatcher.statistics == TransportStatistics())
    }

    @Test func `connections are counted by origin, open, idle and closed`() async throws {
        let keeps: Script = [.forEachRequest([.send(Script.head(200, fields: [("Content-Length", "0")]))])]
        try await withServer(keeps) { kept in
            try await withServer(.raw("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 0\r\n\r\n")) { closed in
                let dispatcher = CurlNetworkDispatcher()
                for server in [kept, closed, kept] {
                    _ = try await dispatcher.send(RequestData(path: server.url()), as: .data)
                }
                let origins = await dispatcher.statistics.origins
                let (first, second) = (origins[kept.baseURL], origins[closed.baseURL])
                #expect(first?.open == 1 && first?.idle == 1 && first?.opened == 1 && first?.closed == 0)
                #expect(second?.open == 0 && second?.opened == 1 && second?.closed == 1)
                let loops = await dispatcher.statistics.loops
                #expect(loops.rounds > 0 && loops.longestRound > .zero && loops.busy >= loops.longestRound)
            }
        }
    }

    @Test func `requests that wait are counted, and their time`() async throws {
        let gate = Gate()
        let script: Script = [
            .forEachRequest([.wait(until: gate), .send(Script.head(200, fields: [("Content-Length", "0")]))])
        ]
        try await withServer(script) { server in
            var configuration = CurlNetworkDispatcher.Configuration()
            configuration.maximumConnectionsPerOrigin = 1
            let dispatcher = CurlNetworkDispatcher(configuration: configuration)
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<3 {
                    group.addTask { _ = try await dispatcher.send(RequestData(path: server.url()), as: .data) }
                }
                while await dispatcher.statistics.connections.waiting < 2 { await Task.yield() }
                let numbers = await dispatcher.statistics.connections
                #expect(numbers.running == 1 && numbers.waiting == 2 && numbers.idle == 0 && numbers.waited == 0)
                gate.open()
                try await group.waitForAll()
            }
            let numbers = await dispatcher.statistics.connections
            #expect(numbers.running == 0 && numbers.waiting == 0 && numbers.waited == 2)
            #expect(numbers.waitingTime > .zero && numbers.opened == 1)
        }
    }

    @Test func `origins beyond the limit are counted together`() {
        var figures = LoopFigures()
        let limit = TransportStatistics.maximumOrigins
        for number in 0..<(limit + 10) {
            figures.opened(Int32(number), for: Origin(isSecure: true, host: "h\(number)", port: 443))
        }
        // A number that is opened again without a report of its end was closed.
        figures.opened(0, for: Origin(isSecure: true, host: "h0", port: 443))
        let statistics = figures.statistics(with: Admission(perOrigin: 1, inAll: 1, maximumQueued: 1))
        #expect(statistics.origins.count == limit && statistics.otherOrigins.opened == 10)
        #expect(statistics.origins["https://h0:443"]?.opened == 2 && statistics.origins["https://h0:443"]?.closed == 1)
        #expect(statistics.connections.open == limit + 10)
    }
}
