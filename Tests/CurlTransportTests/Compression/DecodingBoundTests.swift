import Foundation
import NetworkTesting
import TestSupport
import Testing

@testable import CurlTransport
@testable import NetworkCore

/// A decoder that consumes all input, produces nothing, and counts its calls.
private final class Swallower: ContentDecoder {
    private(set) var calls = 0
    private(set) var largest = 0
    let isAtEnd = true

    func decode(_ input: Data, limit: Int) throws -> (output: Data, consumed: Int) {
        calls += 1
        largest = max(largest, input.count)
        return (Data(), input.count)
    }
}

@Suite("Limits of decoding")
struct DecodingBoundTests {
    /// Decodes until an error is thrown, and returns the number of steps and of decoded bytes.
    private func run(_ bytes: Data, by decoders: any ContentDecoder..., upTo limit: Int = .max) throws -> (Int, Int) {
        var chain = DecodingChain(decoders.map { ("test", $0) })
        chain.append(bytes)
        for steps in 1...limit {
            if try chain.step() == .needsInput { return (steps, chain.produced) }
        }
        return (limit, chain.produced)
    }

    @Test func `a step takes in no more than some milliseconds' worth`() throws {
        let decoder = Swallower()
        _ = try run(Data(count: 1 << 20), by: decoder)
        #expect(decoder.largest == 32_768)
        #expect(decoder.calls == 32)
    }

    @Test func `a coding that takes in and gives nothing is damaged, in every stage`() throws {
        let nothing = RepeatedBytes(
            Data([0, 0, 0, 0xFF, 0xFF]), times: 10_000_000, after: Data([0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 255]))
        expectFailure(.invalidContentEncoding) { try run(Data(count: (1 << 20) + 100), by: Swallower()) }
        expectFailure(.invalidContentEncoding) { try run(nothing.bytes.prefix(2 << 20), by: Inflater(.gzip)) }
        expectFailure(.invalidContentEncoding) {
            try run(nothing.gzipped().bytes, by: Inflater(.gzip), Inflater(.gzip))
        }
        // The stage in the middle has the same limit.
        expectFailure(.invalidContentEncoding) {
            try run(RepeatedBytes(Data([0]), times: 10 << 20).gzipped().bytes, by: Inflater(.gzip), Swallower())
        }
    }

    @Test func `a body flushed byte by byte is not damaged`() throws {
        // Each byte in a stored block of its own, followed by an empty block: eleven bytes for one.
        let flushed = RepeatedBytes(
            Data([0, 1, 0, 0xFE, 0xFF, 0x61, 0, 0, 0, 0xFF, 0xFF]), times: 300_000,
            after: Data([0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 255]))
        #expect(try run(flushed.bytes, by: Inflater(.gzip)).1 == 300_000)
    }

    private func swallowing() -> BodyDecoder { BodyDecoder(DecodingChain([("test", Swallower())])) }

    private func unpackingTwice() -> BodyDecoder {
        BodyDecoder(DecodingChain([("test", Inflater(.gzip)), ("test", Inflater(.gzip))]))
    }

    /// Reads until the third check of the deadline.
    private func expectThreeLooks(at decoder: BodyDecoder, reading body: Data) async throws {
        var looks = 0
        await expectFailure(.totalTimeout) {
            let check = {
                looks += 1
                if looks == 3 { throw NetworkError.totalTimeout }
            }
            while try await decoder.next(check: check, fetch: { body }) != nil {}
        }
        #expect(looks == 3)
        #expect(decoder.hasEnded)
        #expect(try await decoder.next(check: {}, fetch: { body }) == nil)
    }

    @Test func `between two steps the reader is asked`() async throws {
        try await expectThreeLooks(at: swallowing(), reading: Data(count: 1 << 20))
        let bomb = RepeatedBytes(Data([0]), times: 1 << 30).gzipped().gzipped().bytes
        try await expectThreeLooks(at: unpackingTwice(), reading: bomb)
    }
}
