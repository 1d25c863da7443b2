import CLibrary
import NetworkCore
import Synchronization

/// Memory in pieces of a few sizes, always at the same addresses.
///
/// @unchecked: a free piece belongs to the region alone, a taken piece to its taker alone.
final class BufferRegion: @unchecked Sendable {
    /// The pieces of one size.
    private struct Shelf: Sendable {
        /// The size in bytes that a caller requests, and the size of the piece's slot: whole pages.
        let bytes: Int
        let stride: Int
        let offset: Int
    }

    /// The region's address; 0 if there was no memory.
    let start: UInt
    let count: UInt
    private let shelves: [Shelf]
    /// The free pieces of a shelf. The piece that came back last is taken first, so that few are ever touched.
    private struct Free: Sendable {
        var indices: [Int]
        /// The number of pieces at the front that have not been taken since the last ``BufferRegion/drop()``.
        var untouched: Int

        mutating func take() -> Int? {
            let index = indices.popLast()
            untouched = min(untouched, indices.count)
            return index
        }
    }

    private let free: Guarded<[Free]>

    /// - Parameter pieces: The sizes of the pieces in bytes, and the number of pieces of each size.
    init(_ pieces: [(bytes: Int, count: Int)]) {
        let page = max(4096, sysconf(Int32(_SC_PAGESIZE)))
        var (shelves, offset): ([Shelf], Int) = ([], 0)
        for (bytes, pieceCount) in pieces {
            let stride = (bytes + page - 1) / page * page
            shelves.append(Shelf(bytes: bytes, stride: stride, offset: offset))
            offset += stride * pieceCount
        }
        self.shelves = shelves
        count = UInt(offset)
        let memory = unsafe mmap(
            nil, offset, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)
        start = unsafe memory == MAP_FAILED ? 0 : UInt(bitPattern: memory)
        free = Guarded(pieces.map { Free(indices: Array((0..<$0.count).reversed()), untouched: $0.count) })
    }

    deinit { if start != 0 { unsafe munmap(UnsafeMutableRawPointer(bitPattern: start), Int(count)) } }

    @inline(__always)
    func holds(_ piece: UnsafeMutableRawPointer?) -> Bool { UInt(bitPattern: piece) &- start < count }

    /// Returns a piece of exactly that size; `nil` if none is left.
    func take(_ bytes: Int) -> UnsafeMutableRawPointer? {
        guard let shelf = shelves.firstIndex(where: { $0.bytes == bytes }),
            let index = free.withLock({ $0[shelf].take() })
        else { return nil }
        return unsafe UnsafeMutableRawPointer(
            bitPattern: start + UInt(shelves[shelf].offset + index * shelves[shelf].stride))
    }

    /// Returns a piece to the region.
    func give(_ piece: UnsafeMutableRawPointer?) {
        let (shelf, index) = unsafe place(of: piece)
        free.withLock { $0[shelf].indices.append(index) }
    }

    func size(of piece: UnsafeMutableRawPointer) -> Int { unsafe shelves[place(of: piece).shelf].bytes }

    private func place(of piece: UnsafeMutableRawPointer?) -> (shelf: Int, index: Int) {
        let offset = Int(UInt(bitPattern: piece) - start)
        let shelf = shelves.lastIndex { $0.offset <= offset } ?? 0
        return (shelf, (offset - shelves[shelf].offset) / shelves[shelf].stride)
    }

    /// Returns the pages of free pieces to the kernel.
    func drop() {
        free.withLock { free in
            for number in shelves.indices {
                let shelf = shelves[number]
                for index in free[number].indices[free[number].untouched...] {
                    let piece = start + UInt(shelf.offset + index * shelf.stride)
                    unsafe madvise(UnsafeMutableRawPointer(bitPattern: piece), shelf.stride, MADV_DONTNEED)
                }
                free[number].untouched = free[number].indices.count
            }
        }
    }
}
