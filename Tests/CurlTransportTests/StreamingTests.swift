import Foundation
import NetworkCore
import NetworkTesting
import TestSupport
import Testing

@testable import CurlTransport

/// Streaming features of curl alone; the contract covers the rest, with other transports.
@Suite("Streaming over curl", .patience(minutes: 1))
struct StreamingTests {
    private let dispatcher = CurlNetworkDispatcher()

    /// Regression: the cancellation never reached a reader that did not wait.
    @Test(arguments: ["identity", "gzip"])
    func `a reader that never waits is cancelled too`(coding: String) async throws {
        let body = coding == "gzip" ? Gzip.zeros(count: 100_000) : Data(count: 100_000)
        let fields = [("Content-Encoding", coding), ("Content-Length", "\(body.count)")]
        try await withServer(.raw(Script.head(200, fields: fields) + body)) { server in
            let response = try await dispatcher.start(server.url())
            try await server.wait { $0.endedConnectionCount == 1 }
            let reading = Task {
                while !Task.isCancelled { await Task.yield() }
                var chunks = response.body.makeAsyncIterator()
                await expectFailure(.cancelled) { _ = try await chunks.next() }
                return try await chunks.next()
            }
            reading.cancel()
            #expect(try await reading.value == nil)
        }
    }

    /// Regression: discarded data was delivered again, or the reader waited for the body's end.
    /// Regression: the second reader ended the first one's compressed body early, without an error for the first.
    @Test(arguments: ["gzip", "identity"], [true, false])
    func `a second reader gets an error, and the first one the whole body`(coding: String, isKnown: Bool) async throws {
        let count = 400_000
        let body = coding == "gzip" ? Gzip.zeros(count: count) : Data(count: count)
        let framing = isKnown ? "Content-Length: \(body.count)" : "Connection: close"
        let head = "HTTP/1.1 200 OK\r\nContent-Encoding: \(coding)\r\n\(framing)\r\n\r\n"
        try await withServer([.read, .send(head), .sendSplit(body, each: body.count / 20 + 1), .close]) { server in
            for _ in 0..<10 {
                let response = try await dispatcher.start(server.url())
                let results = try await atOnce(2) { _ -> Result<Int, NetworkError> in
                    do { return .success(try await response.body.collect().count) } catch {
                        return .failure(error as? NetworkError ?? .cancelled)
                    }
                }
                // Also a reader that comes after the first one's end.
                #expect(results.compactMap { try? $0.get() } == [count], "\(results)")
                for case .failure(let error) in results { #expect(error.code == .bodyAlreadyRead) }
            }
        }
    }

    @Test func `after a body that was too large, nothing comes`() async throws {
        let start = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\na\r\n0123456789\r\n"
        try await withServer([.read, .send(start), .stall]) { server in
            let response = try await dispatcher.start(server.url())
            await expectFailure(.bodyTooLarge) { _ = try await response.body.collect(upTo: 5) }
            var chunks = response.body.makeAsyncIterator()
            await expectFailure(.bodyAlreadyRead) { _ = try await chunks.next() }
            #expect(try await chunks.next() == nil)
            await expectFailure(.bodyAlreadyRead) { _ = try await response.body.collect() }
        }
    }
}
