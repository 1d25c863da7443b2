import Foundation
import NetworkCore
import NetworkTesting
import TestSupport
import Testing

@testable import CurlTransport

@Suite("Turns of transfers", .patience(minutes: 1))
struct TurnTests {
    /// Regression: such an origin never counted as resolved, and no more than eight of its requests ran: eight long
    /// polls and the request that would have ended them never met.
    @Test func `an origin whose requests go over kept connections is not held up as unresolved`() async throws {
        let (first, second) = (Gate(), Gate())
        try await withServer([
            .read, .wait(until: first), .ok(), .read, .wait(until: second), .ok(),
        ]) { proxy in
            let dispatcher = CurlNetworkDispatcher()
            for (host, gate, count) in [("a.test", first, 12), ("b.test", second, 24)] {
                async let exchanges = atOnce(12) { _ in
                    try await Exchange("http://\(host)/", over: dispatcher) {
                        // With a timeout, the check of its deadline would find the connection.
                        $0.connectTimeout = nil
                        $0.proxy = .server(proxy.baseURL)
                    }.status
                }
                try await proxy.wait { $0.requests.count == count }
                gate.open()
                _ = try await exchanges
            }
            #expect(proxy.connectionCount == 12)
        }
    }

    /// A handle takes eleven kilobytes.
    @Test func `a transfer that waits for its turn has no handle`() async throws {
        try await withServer(.stalled) { server in
            var limits = LoopLimits()
            limits.perOrigin = 1
            let loop = try CurlLoop(limits: limits)
            let request = try makeRequest(server.url())
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

struct LoopExecutorTests {
    private static let threadName = "netlayer-curl"

    private func nameOfThisThread() throws -> String {
        try String(contentsOfFile: "/proc/thread-self/comm", encoding: .utf8).trimmingCharacters(in: .newlines)
    }

    @Test func `a task resumes on the loop where its response arrived`() async throws {
        try await withServer(.response(200, body: Data("abc".utf8))) { server in
            let dispatcher = CurlNetworkDispatcher()
            let request = try makeRequest(server.url())
            let names = try await withTaskExecutorPreference(try dispatcher.loopExecutor()) {
                var names = [try nameOfThisThread()]
                for _ in 0..<3 {
                    let response = try await dispatcher.send(request)
                    names.append(try nameOfThisThread())
                    #expect(try await response.body.collect() == Data("abc".utf8))
                    names.append(try nameOfThisThread())
                }
                return names
            }
            #expect(names == Array(repeating: Self.threadName, count: 7))
        }
    }

    @Test func `many tasks on the loop's thread get their responses, streamed ones too`() async throws {
        let body = PatternBytes.make(count: 600_000)
        try await withServer(.response(200, body: body)) { server in
            let dispatcher = CurlNetworkDispatcher()
            let request = try makeRequest(server.url())
            let sizes = try await withTaskExecutorPreference(try dispatcher.loopExecutor()) {
                try await atOnce(40) { _ in
                    var count = 0
                    for try await chunk in try await dispatcher.send(request).body { count += chunk.count }
                    return count
                }
            }
            #expect(sizes == Array(repeating: body.count, count: 40))
        }
    }

    @Test func `tasks that only wake each other do not keep a response from arriving`() async throws {
        try await withServer(.response(200, body: Data())) { server in
            let dispatcher = CurlNetworkDispatcher()
            let request = try makeRequest(server.url())
            let status = try await withTaskExecutorPreference(try dispatcher.loopExecutor()) {
                let busy = Task(executorPreference: try dispatcher.loopExecutor()) {
                    while !Task.isCancelled { await Task.yield() }
                }
                defer { busy.cancel() }
                return try await dispatcher.send(request).status.code
            }
            #expect(status == 200)
        }
    }

    @Test func `a dispatcher's tasks resume elsewhere after it has ended`() async throws {
        let dispatcher = CurlNetworkDispatcher()
        let executor = try dispatcher.loopExecutor()
        let name = try await withTaskExecutorPreference(executor) {
            await dispatcher.shutDown(within: .zero)
            await Task.yield()
            return try nameOfThisThread()
        }
        #expect(name != Self.threadName)
        #expect(throws: NetworkError.self) { try dispatcher.loopExecutor() }
    }
}
