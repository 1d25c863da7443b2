import Testing

@testable import CurlTransport
@testable import NetworkCore

@Suite("Memory for bodies")
struct BufferMemoryTests {
    @Test func `pieces fit their use, with a quarter to spare at most`() throws {
        #expect(BufferMemory.capacity(for: 1_000) == nil)
        #expect(BufferMemory.capacity(for: (1 << 20) + 1) == nil)
        for bytes in stride(from: 32_769, through: 1 << 20, by: 997) {
            let capacity = try #require(BufferMemory.capacity(for: bytes))
            #expect(capacity >= bytes)
            #expect(capacity <= bytes + bytes / 4 + 1)
        }
    }

    @Test func `a piece that was given back is taken again`() throws {
        let memory = BufferMemory()
        let first = try #require(memory.take(65_536))
        memory.give(first, capacity: 65_536)
        #expect(memory.keptBytes == 65_536)
        #expect(memory.take(65_536) == first)
        #expect(memory.keptBytes == 0)
        memory.give(first, capacity: 65_536)
    }

    @Test func `the kept memory has a limit`() {
        let memory = BufferMemory()
        let pieces = (0..<20).compactMap { _ in memory.take(1 << 20) }
        #expect(pieces.count == 20)
        for piece in pieces { memory.give(piece, capacity: 1 << 20) }
        #expect(memory.keptBytes == BufferMemory.maximumKept)
    }
}
