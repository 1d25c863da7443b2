import CurlTransport
import Foundation
import NetworkCore
import NetworkTesting
import TestSupport
import Testing

/// Streaming features of curl alone; the contract covers the rest, with other transports.
// The shorter of two time limits counts, so no test of the suite can set a longer one.
@Suite("Streaming over curl", .patience(minutes: 5))
struct StreamingTests {
    private let dispatcher = CurlNetworkDispatcher()

    private func response(from server: ScriptedServer) async throws -> TransportResponse {
        var request = TransportRequest(url: try RequestURL(server.url()))
        request.options.totalTimeout = .seconds(30)
        return try await dispatcher.send(request)
    }

    /// Regression: the cancellation never reached a reader that did not wait.
    @Test(arguments: [false, true])
    func `a reader that never waits is cancelled too`(isCoded: Bool) async throws {
        let body = try #require(isCoded ? Self.gzipOfZeros : Data(count: 100_000))
        let coding = isCoded ? "Content-Encoding: gzip\r\n" : ""
        try await withServer(
            .raw(Data("HTTP/1.1 200 OK\r\n\(coding)Content-Length: \(body.count)\r\n\r\n".utf8) + body)
        ) { server in
            let response = try await response(from: server)
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

    /// A gzip container of 100,000 zeros.
    private static let gzipOfZeros = Data(
        base64Encoded:
            "H4sIAAAAAAACA+3BMQEAAADCoPVPbQ0PoAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAIBXA32VEdSghgEA"
    )

    /// Regression: discarded data was delivered again, or the reader waited for the body's end.
    /// Regression: the second reader ended the first one's compressed body early, without an error for the first.
    @Test(arguments: ["gzip", "identity"], [true, false])
    func `a second reader gets an error, and the first one the whole body`(coding: String, isKnown: Bool) async throws {
        let count = 400_000
        let body = coding == "gzip" ? Gzip.zeros(count: count) : Data(count: count)
        let framing = isKnown ? "Content-Length: \(body.count)" : "Connection: close"
        let head = "HTTP/1.1 200 OK\r\nContent-Encoding: \(coding)\r\n\(framing)\r\n\r\n"
        let server = try ScriptedServer([.read, .send(head), .sendSplit(body, each: body.count / 20 + 1), .close])
        defer { server.stop() }
        for _ in 0..<10 {
            let response = try await CurlNetworkDispatcher.shared.send(
                TransportRequest(url: try RequestURL(server.url())))
            let read: @Sendable () async -> Result<Int, NetworkError> = {
                do { return .success(try await response.body.collect().count) } catch {
                    return .failure(error as? NetworkError ?? .cancelled)
                }
            }
            async let one = read()
            async let other = read()
            let results = await [one, other]
            // Also a reader that comes after the first one's end.
            let counts = results.compactMap { try? $0.get() }.sorted()
            #expect(counts == [count], "\(results)")
            for case .failure(let error) in results { #expect(error.code == .bodyAlreadyRead) }
        }
    }

    @Test func `after a body that was too large, nothing comes`() async throws {
        try await withServer([
            .read, .send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\na\r\n0123456789\r\n"), .stall,
        ]) { server in
            let response = try await response(from: server)
            await expectFailure(.bodyTooLarge) { _ = try await response.body.collect(upTo: 5) }
            var chunks = response.body.makeAsyncIterator()
            await expectFailure(.bodyAlreadyRead) { _ = try await chunks.next() }
            #expect(try await chunks.next() == nil)
            await expectFailure(.bodyAlreadyRead) { _ = try await response.body.collect() }
        }
    }

    /// About ten thousand chunks, each of which waits for a thread of the pool that all tests share.
    @Test func `a reader that waits before the sender pauses is not forgotten`() async throws {
        // Chunks around the marks, read as fast as they arrive and with occasional pauses.
        let size = 8 << 20
        let server = try ScriptedServer([
            .forEachRequest([.send("HTTP/1.1 200 OK\r\nContent-Length: \(size)\r\n\r\n"), .send(Data(count: size))])
        ])
        defer { server.stop() }
        for round in 0..<100 {
            var request = TransportRequest(url: try RequestURL(server.url()))
            request.options.totalTimeout = .seconds(120)
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
