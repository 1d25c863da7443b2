import CurlTransport
import Foundation
import NetworkCore
import NetworkTesting
import Synchronization
import TestSupport
import Testing

@Suite(.patience(minutes: 1))
struct UploadProgressTests {
    private func send(_ body: TransportRequest.Body, to url: String) async throws {
        let request = TransportRequest(method: .post, url: try RequestURL(url), body: body)
        let response = try await CurlNetworkDispatcher.shared.send(request)
        _ = try await response.body.collect()
    }

    @Test func `progress grows to the end, and the bytes are the same`() async throws {
        try await withServer(.ok()) { server in
            let bytes = Data((0..<1_000_000).map { UInt8(truncatingIfNeeded: $0 &* 31 >> 3) })
            let steps = Guarded<[TransferProgress]>([])
            try await send(
                .bytes(bytes).reportingProgress { step in steps.withLock { $0.append(step) } }, to: server.url())
            let seen = steps.withLock { $0 }
            #expect(seen.first == TransferProgress(completed: 0, total: 1_000_000))
            #expect(seen.last == TransferProgress(completed: 1_000_000, total: 1_000_000))
            #expect(seen.map(\.completed) == seen.map(\.completed).sorted())
            #expect(seen.count > 10)
            #expect(server.requests.first?.body == bytes)
            #expect(server.requests.first?.values(of: "Content-Length") == ["1000000"])
        }
    }

    @Test func `progress of unknown length has no total`() async throws {
        try await withServer(.ok()) { server in
            let body = TransportRequest.Body.replayableStream {
                AsyncStream(Data.self) { chunks in
                    for _ in 0..<3 { chunks.yield(Data("abc".utf8)) }
                    chunks.finish()
                }
            }
            let steps = Guarded<[TransferProgress]>([])
            try await send(body.reportingProgress { step in steps.withLock { $0.append(step) } }, to: server.url())
            #expect(steps.withLock { $0 } == [0, 3, 6, 9].map { TransferProgress(completed: $0, total: nil) })
            #expect(server.requests.first?.body == Data("abcabcabc".utf8))
        }
    }

    @Test func `a sequence ends with the request`() async throws {
        try await withServer(.ok()) { server in
            let steps = try await upload(to: server.url())
            var last: TransferProgress?
            for await step in steps { last = step }
            #expect(last?.fraction == 1)
        }
    }

    private func upload(to url: String) async throws -> AsyncStream<TransferProgress> {
        let (steps, continuation) = AsyncStream<TransferProgress>.makeStream()
        let body = TransportRequest.Body.bytes(Data(count: 300_000)).reportingProgress { continuation.yield($0) }
        #expect(body.isReplayable && body.length == 300_000)
        try await send(body, to: url)
        continuation.finish()
        return steps
    }
}
