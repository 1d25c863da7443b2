import Foundation
import NetworkTesting
import TestSupport
import Testing

@testable import CurlTransport
@testable import NetworkCore
import Synchronization

@Suite("Compressed request bodies", .patience(minutes: 1))
struct RequestCompressionTests {
    private let dispatcher = CurlNetworkDispatcher()

    @Test func `a stream is packed while it is sent, and again on a second try`() async throws {
        let size = 1_000_000
        let body = Data(repeating: 0x61, count: size)
        // The first connection responds once, reads the second request, and closes without a response.
        let once: Script = [.read, .send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"), .read, .close]
        try await withServer(once, .ok()) { server in
            let runs = Guarded(0)
            var request = TransportRequest(method: .put, url: try RequestURL(server.url()))
            request.body = .replayableStream(length: size) {
                runs.withLock { $0 += 1 }
                return AsyncStream { continuation in
                    for _ in 0..<10 { continuation.yield(body.prefix(size / 10)) }
                    continuation.finish()
                }
            }
            request.options.requestCompression = .gzip(level: 1)
            request.options.totalTimeout = .seconds(30)
            for _ in 0..<2 {
                let response = try await dispatcher.send(request)
                #expect(try await response.body.collect().isEmpty)
            }
            #expect(runs.withLock { $0 } == 3)
            #expect(server.connectionCount == 2)
            for seen in server.requests {
                #expect(seen.values(of: "Content-Encoding") == ["gzip"])
                #expect(seen.values(of: "Transfer-Encoding") == ["chunked"])
                #expect(seen.body.count < size / 50)
                #expect(try Decoded.all(of: seen.body, by: Inflater(.gzip)) == body)
            }
        }
    }

    @Test(arguments: [999, 1_001])
    func `a packed stream of another length fails`(length: Int) async throws {
        try await withServer(.ok()) { server in
            var request = TransportRequest(method: .post, url: try RequestURL(server.url()))
            request.body = .stream(
                AsyncStream {
                    $0.yield(Data(count: 1_000)); $0.finish()
                }, length: length)
            request.options.requestCompression = .gzip
            request.options.totalTimeout = .seconds(30)
            let posted = request
            await expectFailure(.bodyLengthMismatch) { try await dispatcher.send(posted) }
        }
    }
}
