import CLibrary
import NetworkCore
import Synchronization

/// Memory in pieces of a few sizes, always at the same addresses.
///
/// @unchecked: a free piece has no owner but the region, one that was taken none but its taker.
final class BufferRegion: @unchecked Sendable {
    /// Pieces of one size.
    private struct Shelf: Sendable {
        /// What a piece is asked for with, and the place it has: whole pages.
        let bytes: Int
        let stride: Int
        let offset: Int
    }

    /// 0 where there was no memory.
    let start: UInt
    let count: UInt
    private let shelves: [Shelf]
    /// The pieces of a shelf that are free. The last that came back is taken first, so that few are ever touched.
    private struct Free: Sendable {
        var indices: [Int]
        /// So many of the first have not been taken since the last ``BufferRegion/drop()``.
        var untouched: Int

        mutating func take() -> Int? {
            let index = indices.popLast()
            untouched = min(untouched, indices.count)
            return index
        }
    }

    private let free: Guarded<[Free]>

    /// - Parameter pieces: Their sizes in bytes, and how many there are of each.
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

    /// A piece of just that size; `nil` where there is none left.
    func take(_ bytes: Int) -> UnsafeMutableRawPointer? {
        guard let shelf = shelves.firstIndex(where: { $0.bytes == bytes }),
            let index = free.withLock({ $0[shelf].take() })
        else { return nil }
        return unsafe UnsafeMutableRawPointer(
            bitPattern: start + UInt(shelves[shelf].offset + index * shelves[shelf].stride))
    }

    /// Takes back a piece.
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

    /// Gives the pages of what is free back to the kernel.
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
