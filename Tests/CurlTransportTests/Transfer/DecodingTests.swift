import Foundation
import NetworkTesting
import TestSupport
import Testing

@testable import CurlTransport
@testable import NetworkCore

/// The result of running a body through decoders.
enum Decoded {
    /// Returns the whole decoded body, fed in pieces of `size` bytes.
    static func all(of packed: Data, by decoders: any ContentDecoder..., inPiecesOf size: Int = .max) throws -> Data {
        var chain = DecodingChain(decoders.map { ("test", $0) })
        var (body, rest) = (Data(), packed[...])
        while !rest.isEmpty {
            chain.append(Data(rest.prefix(size)))
            rest = rest.dropFirst(size)
            decoding: while true {
                switch try chain.step() {
                case .piece(let piece):
                    #expect(!piece.isEmpty && piece.count <= DecodingChain.pieceBytes)
                    body += piece
                case .noOutput: break
                case .needsInput: break decoding
                }
            }
        }
        try chain.end()
        #expect(chain.produced == body.count)
        return body
    }
}

@Suite("Removal of content codings")
struct DecodingTests {
    private let plain = PatternBytes.make(count: 150_000)

    private func expectDamage(_ packed: Data, _ container: Inflater.Container = .gzip) {
        expectFailure(.invalidContentEncoding) { try Decoded.all(of: packed, by: Inflater(container)) }
    }

    private func expectCut(_ packed: Data, _ container: Inflater.Container = .gzip) {
        expectFailure(.truncatedBody) { try Decoded.all(of: packed, by: Inflater(container)) }
    }

    @Test(arguments: [1, 2, 3, 7, 1_000, .max])
    func `any split gives the same`(size: Int) throws {
        #expect(try Decoded.all(of: Gzip.stored(plain), by: Inflater(.gzip), inPiecesOf: size) == plain)
        let zeros = Data(count: 1_000_000)
        #expect(try Decoded.all(of: Gzip.zeros(count: 1_000_000), by: Inflater(.gzip), inPiecesOf: size) == zeros)
    }

    @Test func `every cut is noticed`() throws {
        let packed = Gzip.stored(Data("a short text".utf8))
        for count in 1..<packed.count { expectCut(packed.prefix(count)) }
        #expect(try Decoded.all(of: Data(), by: Inflater(.gzip)) == Data())
    }

    @Test func `a flipped bit is noticed`() {
        let packed = Gzip.stored(Data("a short text".utf8))
        // Some bytes of the container's head carry no meaning for the data: time, flags, system. A stored block also
        // leaves padding bits in its first byte.
        for index in [0, 1, 2] + Array(11..<packed.count) {
            var damaged = packed
            damaged[index] ^= 0x10
            expectDamage(damaged)
        }
    }

    @Test func `members in a row are one body, and zeros after them nothing`() throws {
        let two = Gzip.stored(Data("one, ".utf8)) + Gzip.stored(Data("two".utf8))
        for size in [1, 5, .max] {
            #expect(try Decoded.all(of: two, by: Inflater(.gzip), inPiecesOf: size) == Data("one, two".utf8))
            #expect(
                try Decoded.all(of: two + Data(count: 20), by: Inflater(.gzip), inPiecesOf: size)
                    == Data("one, two".utf8))
        }
        expectCut(two.dropLast())
        expectDamage(two + Data(count: 2) + Gzip.stored(Data("three".utf8)))
        #expect(throws: NetworkError.self) {
            try Decoded.all(of: two + Data(count: 2) + two, by: Inflater(.gzip), inPiecesOf: 1)
        }
        expectDamage(two + Data("more".utf8))
    }

    @Test func `deflate comes with a container or without`() throws {
        // 'deflated' as a stored block: bare, and in zlib's container with its Adler-32 checksum.
        let text = Data("deflated".utf8)
        let bare = Data([1, 8, 0, 0xF7, 0xFF]) + text
        #expect(try Decoded.all(of: bare, by: Inflater(.deflate)) == text)
        let contained = Data([0x78, 0x01]) + bare + Data([0x0E, 0x79, 0x03, 0x3A])
        #expect(try Decoded.all(of: contained, by: Inflater(.deflate), inPiecesOf: 1) == text)
        expectCut(contained.dropLast(), .deflate)
        expectCut(bare.dropLast(), .deflate)
        expectDamage(contained + Data([1]), .deflate)
    }

    @Test func `codings are removed in turn`() throws {
        let twice = Gzip.stored(Gzip.stored(plain))
        for size in [1, 10_000, .max] {
            #expect(try Decoded.all(of: twice, by: Inflater(.gzip), Inflater(.gzip), inPiecesOf: size) == plain)
        }
        let bombInBomb = Gzip.stored(Gzip.zeros(count: 3_000_000))
        #expect(try Decoded.all(of: bombInBomb, by: Inflater(.gzip), Inflater(.gzip)) == Data(count: 3_000_000))
        #expect(throws: NetworkError.self) {
            try Decoded.all(of: Gzip.stored(Gzip.stored(plain).dropLast()), by: Inflater(.gzip), Inflater(.gzip))
        }
    }
}
