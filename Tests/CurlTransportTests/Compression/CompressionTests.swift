import Foundation
import NetworkTesting
import Synchronization
import TestSupport
import Testing

@testable import CurlTransport
@testable import NetworkCore

@Suite("Compression and decompression")
struct CompressionTests {
    /// Regression: the truncated body was reported as a second error.
    @Test func `after an error on the wire, nothing comes`() async throws {
        let decoder = BodyDecoder(DecodingChain([("gzip", Inflater(.gzip))]))
        let start = try Deflater(level: 6).pack(Data(count: 100_000), isLast: true).prefix(50)
        let pieces = Pieces([start])
        while true {
            do {
                guard try await decoder.next(check: {}, fetch: pieces.next) != nil else { break }
            } catch {
                #expect((error as? NetworkError)?.code == .connectionLost)
                break
            }
        }
        #expect(pieces.hasFailed)
        #expect(try await decoder.next(check: {}, fetch: { nil }) == nil)
    }

    /// Regression: a coding that the end cuts was called damaged, so that nothing treated it as a broken connection.
    @Test(arguments: [Inflater.Container.gzip, .deflate]) func `a coding that is cut anywhere is a truncated body`(
        container: Inflater.Container
    ) throws {
        let text = Data("the same again, the same again, and again".utf8)
        let packed: Data
        switch container {
        case .gzip: packed = Gzip.stored(text)
        default:
            let raw = Gzip.stored(text).dropFirst(10).dropLast(8)
            packed = Data([0x78, 0x01]) + raw + Data(Self.adler32(of: text))
        }
        for length in 1...packed.count {
            var chain = DecodingChain([("test", Inflater(container))])
            chain.append(packed.prefix(length))
            while try chain.step() != .needsInput {}
            if length == packed.count {
                try chain.end()
            } else {
                expectFailure(.truncatedBody) { try chain.end() }
            }
        }
    }

    private static func adler32(of bytes: Data) -> [UInt8] {
        let (low, high) = bytes.reduce((1, 0)) { sums, byte in
            let low = (sums.0 + Int(byte)) % 65_521
            return (low, (sums.1 + low) % 65_521)
        }
        return [high >> 8, high, low >> 8, low].map { UInt8(truncatingIfNeeded: $0) }
    }

    /// Pieces of a body, followed by the loss of the connection.
    private final class Pieces: Sendable {
        private let rest: Guarded<[Data]>

        init(_ pieces: [Data]) { rest = Guarded(pieces) }

        private let failures = Guarded(0)
        var hasFailed: Bool { failures.withLock { $0 == 1 } }

        func next() throws -> Data? {
            if let piece = rest.withLock({ $0.isEmpty ? nil : $0.removeFirst() }) { return piece }
            failures.withLock { $0 += 1 }
            throw NetworkError(.connectionLost, "it is gone", phase: .receiving)
        }
    }

    /// Regression: zlib kept the chunks of a stream, so that a server could not respond to any of them.
    @Test func `each chunk of a compressed stream leaves before the next one is asked for`() async throws {
        let (chunks, next) = AsyncStream<Data>.makeStream()
        let left = Guarded(["one", "two", "three"])
        @Sendable func yieldNext() {
            let text = left.withLock { $0.isEmpty ? nil : $0.removeFirst() }
            if let text { next.yield(Data(text.utf8)) } else { next.finish() }
        }
        yieldNext()
        let pieces = Guarded<[Data]>([])
        try await TransportRequest.Body.stream(chunks).gzipped(level: 6).read { piece in
            pieces.withLock { $0.append(piece) }
            yieldNext()
        }
        #expect(pieces.withLock(\.count) == 4)
        let sent = pieces.withLock { $0.reduce(Data(), +) }
        let inflated = try Inflater(.gzip).decode(sent, limit: 65_536).output
        #expect(inflated == Data("onetwothree".utf8))
    }

    /// Regression: its memory was freed twice.
    @Test func `a deflater that can't be started is an error`() {
        for _ in 0..<100 {
            #expect(throws: NetworkError.self) { try Deflater(level: 99) }
        }
    }
}

/// A sequence of one chunk, which cancels its reader's task.
private struct ChunkOfACancelledTask: AsyncSequence, AsyncIteratorProtocol, Sendable {
    private var isRead = false

    func makeAsyncIterator() -> Self { self }

    mutating func next() async throws -> Data? {
        guard !isRead else { return nil }
        isRead = true
        withUnsafeCurrentTask { $0?.cancel() }
        return Data(count: 1 << 20)
    }
}

@Suite("The compression of a request's body ends with the call")
struct PackingTimeTests {
    private func request(_ totalTimeout: Duration?) throws -> TransportRequest {
        var request = TransportRequest(method: .post, url: try RequestURL("http://127.0.0.1/"))
        request.body = .bytes(Data(count: 1 << 20))
        request.options.requestCompression = .gzip
        request.options.totalTimeout = totalTimeout
        return request
    }

    @Test func `the total timeout ends a decompression`() throws {
        #expect(try request(nil).wireBody()?.knownBytes?.isEmpty == false)
        let late = try request(.nanoseconds(1))
        expectFailure(.totalTimeout) { try late.wireBody() }
    }

    @Test func `cancellation ends a decompression`() async throws {
        let request = try request(nil)
        await Task {
            withUnsafeCurrentTask { $0?.cancel() }
            expectFailure(.cancelled) { try request.wireBody() }
        }.value
    }

    @Test func `cancellation ends a stream in the middle of a chunk`() async throws {
        var request = try request(nil)
        request.body = .stream(ChunkOfACancelledTask())
        let packed = try #require(try request.wireBody())
        guard case .produced(let producer) = packed.content else { return }
        await Task {
            _ = await #expect(throws: CancellationError.self) {
                try await producer.run { _ in }
            }
        }.value
    }
}
