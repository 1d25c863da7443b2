import Foundation
import NetworkTesting
import Synchronization
import TestSupport
import Testing

@testable import CurlTransport
@testable import NetworkCore

@Suite("Compressed request bodies", .patience(minutes: 1))
struct RequestCompressionTests {
    private let dispatcher = CurlNetworkDispatcher()

    @Test func `a stream is packed while it is sent, and again on a second try`() async throws {
        let body = Data(repeating: 0x61, count: 1_000_000)
        try await withServer(.once, .ok()) { server in
            let runs = Guarded(0)
            let replayable = TransportRequest.Body.replayableStream(length: body.count) {
                runs.withLock { $0 += 1 }
                return AsyncStream.of(Array(repeating: body.prefix(100_000), count: 10))
            }
            for _ in 0..<2 {
                let exchange = try await Exchange(server.url(), .put, over: dispatcher, body: replayable) {
                    $0.requestCompression = .gzip(level: 1)
                }
                #expect(exchange.text.isEmpty)
            }
            #expect(runs.withLock { $0 } == 3)
            #expect(server.connectionCount == 2)
            for seen in server.requests {
                #expect(seen.values(of: "Content-Encoding") == ["gzip"])
                #expect(seen.values(of: "Transfer-Encoding") == ["chunked"])
                #expect(seen.body.count < body.count / 50)
                #expect(try Decoded.all(of: seen.body, by: Inflater(.gzip)) == body)
            }
        }
    }

    @Test(arguments: [999, 1_001])
    func `a packed stream of another length fails`(length: Int) async throws {
        try await withServer(.ok()) { server in
            _ = await expectFailure(.bodyLengthMismatch) {
                try await dispatcher.start(
                    server.url(), body: .once([Data(count: 1_000)], length: length)
                ) { $0.requestCompression = .gzip }
            }
        }
    }
}

@Suite("The progress of uploads", .patience(minutes: 1))
struct UploadProgressTests {
    /// Returns the steps that an upload reports, and what arrived.
    private func upload(
        _ body: TransportRequest.Body
    ) async throws -> (steps: [TransferProgress], received: ReceivedRequest) {
        try await withServer(.ok()) { server in
            let steps = Guarded<[TransferProgress]>([])
            _ = try await Exchange(
                server.url(), body: body.reportingProgress { step in steps.withLock { $0.append(step) } })
            return (steps.withLock(\.self), try #require(server.requests.first))
        }
    }

    @Test func `progress grows to the end, and the bytes are the same`() async throws {
        let bytes = Data((0..<1_000_000).map { UInt8(truncatingIfNeeded: $0 &* 31 >> 3) })
        let (steps, received) = try await upload(.bytes(bytes))
        #expect(steps.first == TransferProgress(completed: 0, total: 1_000_000))
        #expect(steps.last == TransferProgress(completed: 1_000_000, total: 1_000_000))
        #expect(steps.last?.fraction == 1)
        #expect(steps.map(\.completed) == steps.map(\.completed).sorted())
        #expect(steps.count > 10)
        #expect(received.body == bytes && received.values(of: "Content-Length") == ["1000000"])
    }

    @Test func `progress of unknown length has no total`() async throws {
        let (steps, received) = try await upload(.replayable(Array(repeating: Data("abc".utf8), count: 3)))
        #expect(steps == [0, 3, 6, 9].map { TransferProgress(completed: $0, total: nil) })
        #expect(received.body == Data("abcabcabc".utf8))
    }

    @Test func `a body with progress is as long, and can be sent as often`() {
        let body = TransportRequest.Body.bytes(Data(count: 300_000)).reportingProgress { _ in }
        #expect(body.isReplayable && body.length == 300_000)
    }
}
