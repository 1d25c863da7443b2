import Foundation
import NetworkTesting
import Synchronization
import TestSupport
import Testing

@testable import CurlTransport
@testable import NetworkCore

@Suite("The flow of a streamed request body")
struct UploadStateTests {
    private func bytes(_ taking: UploadState.Taking) -> Data? {
        guard case .bytes(let bytes) = taking else { return nil }
        return bytes
    }

    @Test func `bytes come out in order, and cut to the asked size`() {
        var flow = UploadState(length: nil)
        #expect(flow.deliver(Data("hello".utf8)) == (.proceed, false))
        #expect(flow.deliver(Data()) == (.proceed, false))
        #expect(flow.deliver(Data("world".utf8)) == (.proceed, false))
        #expect(bytes(flow.take(3).taking) == Data("hel".utf8))
        #expect(bytes(flow.take(100).taking) == Data("loworld".utf8))
        #expect(flow.end(nil) == false)
        guard case .end = flow.take(1).taking else { return #expect(Bool(false), "expected the end") }
    }

    /// Regression: a body that was cancelled while its last bytes waited ended there, as if it were whole.
    @Test(arguments: [nil, 10]) func `a closed body has no end`(length: Int?) {
        var flow = UploadState(length: length)
        _ = flow.deliver(Data("0123456789".utf8))
        _ = flow.end(nil)
        #expect(bytes(flow.take(3).taking) == Data("012".utf8))
        flow.close()
        for _ in 0..<2 {
            guard case .failed = flow.take(100).taking else { return #expect(Bool(false), "expected a failure") }
            // libcurl may rewind it.
            flow.restart()
        }
    }

    /// Regression: each small chunk waited on its own, and taking the first of a quarter million moved all the others.
    @Test func `small chunks are taken together`() {
        var flow = UploadState(length: nil)
        for number in 0..<100_000 { _ = flow.deliver(Data([UInt8(truncatingIfNeeded: number)])) }
        var (taken, pieces) = (Data(), 0)
        while let piece = bytes(flow.take(65_536).taking) {
            taken += piece
            pieces += 1
        }
        #expect(taken == Data((0..<100_000).map { UInt8(truncatingIfNeeded: $0) }))
        #expect(pieces < 10)
    }

    @Test func `libcurl is told once after it asked in vain`() {
        var flow = UploadState(length: nil)
        guard case .nothingYet = flow.take(10).taking else { return #expect(Bool(false), "expected no data yet") }
        #expect(flow.deliver(Data([1])) == (.proceed, true))
        #expect(flow.deliver(Data([2])) == (.proceed, false))
        _ = flow.take(10)
        _ = flow.take(10)
        #expect(flow.end(nil) == true)
        #expect(flow.end(nil) == false)
    }

    @Test func `libcurl is not told when it asked for more than it got`() {
        var flow = UploadState(length: nil)
        guard case .nothingYet = flow.take(10, pauses: false).taking else {
            return #expect(Bool(false), "expected no data yet")
        }
        #expect(flow.deliver(Data([1])) == (.proceed, false))
        #expect(flow.end(nil) == false)
    }

    @Test func `a fast producer waits above the high mark, and goes on at the low mark`() {
        var flow = UploadState(length: nil)
        #expect(flow.deliver(Data(count: UploadState.highMark)).delivery == .wait)
        #expect(flow.needsRoom)
        #expect(flow.take(UploadState.highMark - UploadState.lowMark - 1).wakesProducer == false)
        #expect(flow.take(1).wakesProducer == true)
        #expect(!flow.needsRoom)
    }

    @Test func `a length that is not kept fails`() {
        var short = UploadState(length: 10)
        _ = short.deliver(Data(count: 9))
        _ = short.end(nil)
        _ = short.take(100)
        guard case .failed(let error) = short.take(1).taking else { return #expect(Bool(false), "too short to pass") }
        #expect((error as? NetworkError)?.code == .bodyLengthMismatch)

        var long = UploadState(length: 10)
        _ = long.deliver(Data(count: 10))
        #expect(long.deliver(Data(count: 1)).delivery == .stop)
        _ = long.take(100)
        guard case .failed(let error) = long.take(1).taking else { return #expect(Bool(false), "too long to pass") }
        #expect((error as? NetworkError)?.code == .bodyLengthMismatch)
    }

    /// libcurl does not ask again once it has all bytes of a body with a length.
    @Test(arguments: 0..<300)
    func `the last byte goes out after the producer's end alone`(_ seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        let chunks = (0..<Int.random(in: 1...5, using: &generator)).map { _ in
            Int.random(in: 1...[3, 20_000, 300_000].randomElement(using: &generator)!, using: &generator)
        }
        let length = chunks.reduce(0, +)
        var (flow, taken, isWaiting) = (UploadState(length: length), 0, false)
        func take() -> UploadState.Taking {
            let taking = flow.take(Int.random(in: 1...100_000, using: &generator)).taking
            taken += bytes(taking)?.count ?? 0
            return taking
        }
        for (index, chunk) in chunks.enumerated() {
            isWaiting = flow.deliver(Data(count: chunk)).delivery == .wait
            while isWaiting || Bool.random(using: &generator) {
                if case .bytes = take() {
                    isWaiting = isWaiting && flow.needsRoom
                } else {
                    break
                }
            }
            #expect(!isWaiting && (index < chunks.count - 1 || taken < length))
        }
        while case .bytes = take() {}
        #expect(taken < length && length - taken <= 16_384, "a slow producer must not keep back more")
        if Bool.random(using: &generator) {
            let wakes = flow.end(nil)
            #expect(wakes)
            while case .bytes = take() {}
            #expect(taken == length)
            guard case .end = take() else { return #expect(Bool(false), "expected the end") }
        } else {
            let isSurplus = Bool.random(using: &generator)
            let wakes = isSurplus ? flow.deliver(Data([1])).wakesSender : flow.end(CancellationError())
            #expect(wakes)
            guard case .failed = take() else { return #expect(Bool(false), "expected the failure") }
        }
    }

    @Test func `a closed channel stops its producer`() {
        var flow = UploadState(length: nil)
        _ = flow.deliver(Data(count: UploadState.highMark))
        flow.close()
        #expect(!flow.needsRoom)
        #expect(flow.deliver(Data([1])).delivery == .stop)
    }
}

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
