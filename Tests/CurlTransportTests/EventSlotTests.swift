import Foundation
import NetworkCore
import NetworkTesting
import Synchronization
import TestSupport
import Testing

@testable import CurlTransport

@Suite(.patience(minutes: 1))
struct EventSlotTests {
    /// Regression: a refused response and its connection were held for the whole pause before reconnecting.
    @Test func `a stream that waits to reconnect keeps no slot`() async throws {
        let busy: Script = [
            .read, .send("HTTP/1.1 503 Busy\r\nContent-Length: 5000000\r\n\r\n"),
            .flood(Data(repeating: 0x78, count: 1000)),
        ]
        let stalled: Script = [.read, .send("HTTP/1.1 503 Busy\r\nContent-Length: 100\r\n\r\nx"), .stall]
        for refusal in [busy, stalled] {
            let server = try ScriptedServer(refusal, .ok("ok"))
            defer { server.stop() }
            var configuration = CurlNetworkDispatcher.Configuration()
            configuration.maximumConnectionsPerOrigin = 1
            let client = NetworkClient(transport: CurlNetworkDispatcher(configuration: configuration))
            let other = Guarded<Result<String, any Error>?>(nil)
            var options = ServerSentEvents.Options()
            options.time = TimeSource(
                now: { Date() },
                sleep: { _ in
                    // The pause lasts until another request has had the slot or has failed to get it.
                    var second = client
                    second.options.totalTimeout = .seconds(30)
                    do {
                        let text = try await second.send(RequestData(path: server.url()), as: .text).body
                        other.withLock { $0 = .success(text) }
                    } catch {
                        other.withLock { $0 = .failure(error) }
                    }
                    throw CancellationError()
                },
                random: { 0 })
            await expectFailure(.cancelled) {
                for try await _ in try await client.send(RequestData(path: server.url()), as: .events(options)).body {}
            }
            #expect(try #require(other.withLock { $0 }).get() == "ok")
        }
    }
}
