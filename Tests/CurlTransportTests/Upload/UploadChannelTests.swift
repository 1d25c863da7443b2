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

    /// Regression: a small chunk went under the channel's lock when the next one was joined to it.
    @Test func `the memory of a chunk that is joined may end its transfer when it goes`() async throws {
        let held = Guarded<UploadChannel?>(nil)
        let isGone = Gate()
        let channel = UploadChannel(
            BodyProducer(length: nil, isReplayable: false) { deliver in
                try await deliver(
                    Self.chunk(of: 100) {
                        held.withLock(\.self)?.close()
                        isGone.open()
                    })
                try await deliver(Data(count: 10))
            })
        held.withLock { $0 = channel }
        _ = channel.take(1, pauses: true)
        try await isGone.wait()
        held.withLock { $0 = nil }
    }

    /// Returns a chunk that calls a closure when it goes.
    private static func chunk(of size: Int, _ goes: @escaping @Sendable () -> Void) -> Data {
        let memory = UnsafeMutableRawPointer.allocate(byteCount: size, alignment: 16)
        return Data(
            bytesNoCopy: memory, count: size,
            deallocator: .custom { memory, _ in
                goes()
                memory.deallocate()
            })
    }

    /// Regression: chunks went under the channel's lock, and a deallocator that ended the transfer took the lock again.
    @Test(arguments: [true, false])
    func `the memory of a chunk may end its transfer when it goes`(ends: Bool) async throws {
        let held = Guarded<UploadChannel?>(nil)
        let (isGone, hasMore) = (Gate(), Gate())
        let channel = UploadChannel(
            BodyProducer(length: nil, isReplayable: true) { deliver in
                try await deliver(
                    Self.chunk(of: 100_000) {
                        held.withLock(\.self)?.close()
                        isGone.open()
                    })
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
