import CurlTransport
import Foundation
import NetworkCore
import NetworkTesting
import Testing

/// What curl alone does; the rest is in the contract, with other transports.
@Suite("Streaming over curl", .timeLimit(.minutes(1)))
struct StreamingTests {
    private let dispatcher = CurlNetworkDispatcher()

    @Test func aReaderThatWaitsBeforeTheSenderPausesIsNotForgotten() async throws {
        // Chunks around the marks, read as fast as they come and with a pause now and then.
        let size = 8 << 20
        let server = try ScriptedServer([
            .forEachRequest([.send("HTTP/1.1 200 OK\r\nContent-Length: \(size)\r\n\r\n"), .send(Data(count: size))])
        ])
        defer { server.stop() }
        for round in 0..<100 {
            var request = TransportRequest(url: try RequestURL(server.url()))
            request.options.totalTimeout = .seconds(30)
            let response = try await dispatcher.send(request)
            var total = 0
            for try await chunk in response.body {
                total += chunk.count
                if round % 3 == 0 { await Task.yield() }
            }
            #expect(total == size)
        }
    }
}
