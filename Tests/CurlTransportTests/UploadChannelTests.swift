import FoundationEssentials
import NetworkTesting
import TestSupport
import Testing

@testable import CurlTransport
@testable import NetworkCore

@Suite("The channel of a streamed body")
struct UploadChannelTests {
    /// Regression: a reading that another one ended while it began took the channel's lock under that lock, which ends
    /// the process.
    @Test func `a reading that ends while it begins ends its upload`() async throws {
        for _ in 0..<2_000 {
            let producer = BodyProducer(length: nil, isReplayable: true) { deliver in
                StreamReading.current?.cancel()
                try await deliver(Data("x".utf8))
            }
            let (channel, hasMore) = (UploadChannel(producer), Gate())
            channel.onMore { hasMore.open() }
            channel.leave()
            guard case .nothingYet = channel.take(1, pauses: true) else {
                Issue.record("a chunk before its producer")
                return
            }
            try await hasMore.wait()
            channel.close()
        }
    }
}
