import Foundation
import NetworkCore
import Testing

@testable import CurlTransport

@Suite("The flow of a streamed request body")
struct UploadStateTests {
    private func bytes(_ taking: UploadState.Taking) -> Data? {
        guard case .bytes(let bytes) = taking else { return nil }
        return bytes
    }

    @Test func `bytes come out in order, and cut to the asked size`() {
        var flow = UploadState(length: nil)
        #expect(flow.deliver(Data("hello".utf8)) == (.goOn, false))
        #expect(flow.deliver(Data()) == (.goOn, false))
        #expect(flow.deliver(Data("world".utf8)) == (.goOn, false))
        #expect(bytes(flow.take(3).taking) == Data("hel".utf8))
        #expect(bytes(flow.take(100).taking) == Data("loworld".utf8))
        #expect(flow.end(nil) == false)
        guard case .end = flow.take(1).taking else { return #expect(Bool(false), "expected the end") }
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
        #expect(flow.deliver(Data([1])) == (.goOn, true))
        #expect(flow.deliver(Data([2])) == (.goOn, false))
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
        #expect(flow.deliver(Data([1])) == (.goOn, false))
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

    @Test func `a closed channel stops its producer`() {
        var flow = UploadState(length: nil)
        _ = flow.deliver(Data(count: UploadState.highMark))
        flow.close()
        #expect(!flow.needsRoom)
        #expect(flow.deliver(Data([1])).delivery == .stop)
    }
}
