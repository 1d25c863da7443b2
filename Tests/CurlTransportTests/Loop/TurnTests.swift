import Foundation
import NetworkCore
import NetworkTesting
import TestSupport
import Testing

@testable import CurlTransport

@Suite("Turns of transfers", .patience(minutes: 1))
struct TurnTests {
    private func request(_ url: String, _ change: (inout TransportOptions) -> Void = { _ in }) throws
        -> TransportRequest
    {
        var request = TransportRequest(url: try RequestURL(url))
        request.options.totalTimeout = .seconds(30)
        change(&request.options)
        return request
    }

    /// Regression: such an origin never counted as resolved, and no more than eight of its requests ran: eight long
    /// polls and the request that would have ended them never met.
    @Test func `an origin whose requests go over kept connections is not held up as unresolved`() async throws {
        let (first, second) = (Gate(), Gate())
        let head = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"
        let proxy = try ScriptedServer([
            .read, .wait(until: first), .send(head), .read, .wait(until: second), .send(head),
        ])
        defer { proxy.stop() }
        let dispatcher = CurlNetworkDispatcher()
        for (host, gate, count) in [("a.test", first, 12), ("b.test", second, 24)] {
            let request = try request("http://\(host)/") {
                // With a timeout, the check of its deadline would find the connection.
                $0.connectTimeout = nil
                $0.proxy = .explicit(TransportOptions.Proxy.Server("http://127.0.0.1:\(proxy.port)"))
            }
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<12 { group.addTask { _ = try await dispatcher.send(request).body.collect() } }
                try await proxy.wait { $0.requests.count == count }
                gate.open()
                try await group.waitForAll()
            }
        }
        #expect(proxy.connectionCount == 12)
    }

    /// A handle takes eleven kilobytes.
    @Test func `a transfer that waits for its turn has no handle`() async throws {
        try await withServer(.stalled) { server in
            var limits = LoopLimits()
            limits.perOrigin = 1
            let loop = try CurlLoop(limits: limits)
            let request = try request(server.url())
            let transfers = try (0..<3).map { _ in try Transfer(request, over: loop) }
            transfers.forEach(loop.start)
            try await server.wait { $0.requests.count >= 1 }
            // The first request may be out before the loop has seen the other two.
            var haveHandles: [Bool]
            repeat {
                haveHandles = await Task(executorPreference: loop.executor) {
                    transfers.map { $0.state.run.easy != nil }
                }
                .value
            } while haveHandles != [true, false, false] && !Task.isCancelled
            #expect(haveHandles == [true, false, false])
            loop.shutDown(within: .zero)
            await loop.end.wait()
        }
    }
}
