import Foundation
import NetworkTesting
import TestSupport
import Testing

@testable import CurlTransport
@testable import NetworkCore

/// Streaming features of curl alone; the contract covers the rest, with other transports.
@Suite("Streaming over curl", .patience(minutes: 1))
struct StreamingTests {
    private let dispatcher = CurlNetworkDispatcher()

    /// Regression: the cancellation never reached a reader that did not wait.
    @Test(arguments: ["identity", "gzip"])
    func `a reader that never waits is cancelled too`(coding: String) async throws {
        let body = coding == "gzip" ? Gzip.zeros(count: 100_000) : Data(count: 100_000)
        let fields = [("Content-Encoding", coding), ("Content-Length", "\(body.count)")]
        try await withServer(.raw(Script.head(200, fields: fields) + body)) { server in
            let response = try await dispatcher.start(server.url())
            try await server.wait { $0.endedConnectionCount == 1 }
            let reading = Task {
                while !Task.isCancelled { await Task.yield() }
                var chunks = response.body.makeAsyncIterator()
                await expectFailure(.cancelled) { _ = try await chunks.next() }
                return try await chunks.next()
            }
            reading.cancel()
            #expect(try await reading.value == nil)
        }
    }

    /// Regression: discarded data was delivered again, or the reader waited for the body's end.
    /// Regression: the second reader ended the first one's compressed body early, without an error for the first.
    @Test(arguments: ["gzip", "identity"], [true, false])
    func `a second reader gets an error, and the first one the whole body`(coding: String, isKnown: Bool) async throws {
        let count = 400_000
        let body = coding == "gzip" ? Gzip.zeros(count: count) : Data(count: count)
        let framing = isKnown ? "Content-Length: \(body.count)" : "Connection: close"
        let head = "HTTP/1.1 200 OK\r\nContent-Encoding: \(coding)\r\n\(framing)\r\n\r\n"
        try await withServer([.read, .send(head), .sendSplit(body, each: body.count / 20 + 1), .close]) { server in
            for _ in 0..<10 {
                let response = try await dispatcher.start(server.url())
                let results = try await atOnce(2) { _ -> Result<Int, NetworkError> in
                    do { return .success(try await response.body.collect().count) } catch {
                        return .failure(error as? NetworkError ?? .cancelled)
                    }
                }
                // Also a reader that comes after the first one's end.
                #expect(results.compactMap { try? $0.get() } == [count], "\(results)")
                for case .failure(let error) in results { #expect(error.code == .bodyAlreadyRead) }
            }
        }
    }

    @Test func `after a body that was too large, nothing comes`() async throws {
        let start = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\na\r\n0123456789\r\n"
        try await withServer([.read, .send(start), .stall]) { server in
            let response = try await dispatcher.start(server.url())
            await expectFailure(.bodyTooLarge) { _ = try await response.body.collect(upTo: 5) }
            var chunks = response.body.makeAsyncIterator()
            await expectFailure(.bodyAlreadyRead) { _ = try await chunks.next() }
            #expect(try await chunks.next() == nil)
            await expectFailure(.bodyAlreadyRead) { _ = try await response.body.collect() }
        }
    }
}

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
