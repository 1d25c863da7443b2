import FoundationEssentials
import NetworkTesting
import Synchronization
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

    /// Regression: chunks went under the channel's lock, and a deallocator that ended the transfer took the lock again.
    @Test(arguments: [true, false])
    func `the memory of a chunk may end its transfer when it goes`(ends: Bool) async throws {
        let held = Guarded<UploadChannel?>(nil)
        let (isGone, hasMore) = (Gate(), Gate())
        let size = 100_000
        let channel = UploadChannel(
            BodyProducer(length: nil, isReplayable: true) { deliver in
                let memory = UnsafeMutableRawPointer.allocate(byteCount: size, alignment: 16)
                let chunk = Data(
                    bytesNoCopy: memory, count: size,
                    deallocator: .custom { memory, _ in
                        held.withLock(\.self)?.close()
                        memory.deallocate()
                        isGone.open()
                    })
                try await deliver(chunk)
            })
        held.withLock { $0 = channel }
        channel.onMore { hasMore.open() }
        guard case .nothingYet = channel.take(1, pauses: true) else {
            Issue.record("a chunk before its producer")
            return
        }
        try await hasMore.wait()
        if ends { channel.close() } else { #expect(channel.restart()) }
        try await isGone.wait()
        channel.close()
        held.withLock { $0 = nil }
    }
}
