import Testing

@testable import CurlTransport

@Suite("A region of buffers")
struct BufferRegionTests {
    private let region = BufferRegion([(65_537, 3), (1_000, 3)])

    @Test func `each piece belongs to its taker alone`() throws {
        let large = (0..<4).map { _ in region.take(65_537) }
        let small = (0..<4).map { _ in region.take(1_000) }
        #expect(large.map { $0 != nil } == [true, true, true, false])
        #expect(small.map { $0 != nil } == [true, true, true, false])
        for (number, piece) in large.compactMap(\.self).enumerated() {
            #expect(region.holds(piece) && region.size(of: piece) == 65_537)
            piece.initializeMemory(as: UInt8.self, repeating: UInt8(number + 1), count: 65_537)
        }
        for piece in small.compactMap(\.self) {
            #expect(region.holds(piece) && region.size(of: piece) == 1_000)
            piece.initializeMemory(as: UInt8.self, repeating: 9, count: 1_000)
        }
        for (number, piece) in large.compactMap(\.self).enumerated() {
            let bytes = UnsafeRawBufferPointer(start: piece, count: 65_537)
            #expect(bytes.allSatisfy { $0 == UInt8(number + 1) })
        }
    }

    @Test func `a piece that was given back is taken again, and forgets its bytes`() throws {
        let piece = try #require(region.take(1_000))
        piece.storeBytes(of: 7, as: UInt8.self)
        region.give(piece)
        region.drop()
        #expect(region.take(1_000) == piece)
        #expect(piece.load(as: UInt8.self) == 0)
    }

    @Test func `a taken piece is not forgotten, and one that comes back later is`() throws {
        let (first, second) = (try #require(region.take(1_000)), try #require(region.take(1_000)))
        for piece in [first, second] { piece.storeBytes(of: 7, as: UInt8.self) }
        region.give(second)
        region.drop()
        #expect(first.load(as: UInt8.self) == 7)
        region.give(first)
        region.drop()
        #expect(region.take(1_000) == first && region.take(1_000) == second)
        #expect(first.load(as: UInt8.self) == 0 && second.load(as: UInt8.self) == 0)
    }

    @Test func `a region takes back no piece of another size or memory`() throws {
        #expect(region.take(999) == nil)
        #expect(!region.holds(nil))
        let other = UnsafeMutableRawPointer.allocate(byteCount: 8, alignment: 8)
        defer { other.deallocate() }
        #expect(!region.holds(other))
    }
}
