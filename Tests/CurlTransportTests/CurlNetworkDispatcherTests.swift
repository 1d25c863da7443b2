import Foundation
import NetworkCore
import NetworkTesting
import Synchronization
import TestSupport
import Testing

@testable import CurlTransport

@Suite("The curl dispatcher", .patience(minutes: 1))
struct CurlNetworkDispatcherTests {
    @Test func `no more connections are open than the limit allows, and the others wait in order`() async throws {
        try await withServer(.ok("x")) { server in
            let dispatcher = CurlNetworkDispatcher { $0.maximumConnectionsPerOrigin = 3 }
            _ = try await atOnce(200) { _ in try await Exchange(server.url(), over: dispatcher).text }
            #expect(server.requests.count == 200)
            #expect(server.connectionCount <= 3)
        }
    }

    /// Returns the codes of requests at once, in the order of their ends.
    private static func codes(
        _ count: Int, _ url: String, over dispatcher: CurlNetworkDispatcher, within timeout: Duration? = nil,
        until isEnough: ([NetworkError.Code?]) -> Bool = { _ in false }
    ) async -> [NetworkError.Code?] {
        await withTaskGroup(of: NetworkError.Code?.self) { group in
            for _ in 0..<count {
                group.addTask {
                    do {
                        _ = try await Exchange(url, over: dispatcher) { $0.totalTimeout = timeout }
                        return nil
                    } catch { return NetworkError.code(of: error) }
                }
            }
            var codes: [NetworkError.Code?] = []
            while !isEnough(codes), let code = await group.next() { codes.append(code) }
            group.cancelAll()
            return codes
        }
    }

    @Test func `a full queue is overloaded`() async throws {
        try await withServer(.stalled) { server in
            let dispatcher = CurlNetworkDispatcher { ($0.maximumConnectionsPerOrigin, $0.maximumQueued) = (1, 1) }
            // One runs, one waits, and one is refused: the refused one is the first to end.
            let codes = await Self.codes(3, server.url(), over: dispatcher) { !$0.isEmpty }
            #expect(codes == [.overloaded])
        }
    }

    @Test func `many total timeouts in the queue end each`() async throws {
        try await withServer(.stalled) { server in
            let dispatcher = CurlNetworkDispatcher { $0.maximumConnectionsPerOrigin = 2 }
            let codes = await Self.codes(2_000, server.url(), over: dispatcher, within: .milliseconds(100))
            #expect(codes == Array(repeating: .totalTimeout, count: 2_000))
        }
    }

    @Test func `a thousand cancels in every phase end once each, and the dispatcher goes on`() async throws {
        let head = Script.Step.send("HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n")
        try await withServer([.forEachRequest([head, .send(Data(count: 50_000)), .stall])]) { server in
            let dispatcher = CurlNetworkDispatcher()
            let url = server.url()
            var random = SeededGenerator(seed: 5)
            for _ in 0..<1_000 {
                let task = Task { try await Exchange(url, over: dispatcher) }
                for _ in 0..<Int.random(in: 0..<40, using: &random) { await Task.yield() }
                task.cancel()
                await expectFailure(.cancelled) { try await task.value }
            }
            try await withServer(.ok("still here")) { other async throws in
                #expect(try await Exchange(other.url(), over: dispatcher).text == "still here")
            }
        }
    }

    /// Regression: a refused response and its connection were held for the whole pause before reconnecting.
    @Test(
        arguments: [
            [
                .read, .send("HTTP/1.1 503 Busy\r\nContent-Length: 5000000\r\n\r\n"),
                .flood(Data(repeating: 0x78, count: 1000)),
            ],
            [.read, .send("HTTP/1.1 503 Busy\r\nContent-Length: 100\r\n\r\nx"), .stall],
        ] as [Script])
    func `a stream that waits to reconnect keeps no slot`(refusal: Script) async throws {
        try await withServer(refusal, .ok("ok")) { server async throws in
            let client = NetworkClient(transport: CurlNetworkDispatcher { $0.maximumConnectionsPerOrigin = 1 })
            let request = RequestData(path: server.url())
            let other = Guarded<Result<String, any Error>?>(nil)
            var options = ServerSentEvents.Options()
            options.time = TimeSource(
                now: { Date() },
                sleep: { _ in
                    // The pause lasts until another request has had the slot or has failed to get it.
                    let second = client.with { $0.options.totalTimeout = .seconds(30) }
                    do {
                        let text = try await second.send(request, as: .text).body
                        other.withLock { $0 = .success(text) }
                    } catch {
                        other.withLock { $0 = .failure(error) }
                    }
                    throw CancellationError()
                },
                random: { 0 })
            await expectFailure(.cancelled) {
                for try await _ in try await client.send(request, as: .events(options)).body {}
            }
            #expect(try #require(other.withLock { $0 }).get() == "ok")
        }
    }
}
