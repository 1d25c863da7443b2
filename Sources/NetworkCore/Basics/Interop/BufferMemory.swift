import CLibrary
package import FoundationEssentials
import Synchronization

/// Memory of 32 KiB to 1 MiB for bodies, used again and again.
///
/// The C library gives memory of that size back to the kernel when it is freed, and the next body then faults in page
/// after page: that costs more than the transfer itself. What is kept here is bounded, and is given back by a loop that
/// has had nothing to do for a while. A piece in use belongs to whoever took it.
package final class BufferMemory: Sendable {
    package static let shared = BufferMemory()

    /// Sizes are powers of two and three steps between them, so that at most a fifth of a piece is not used.
    private static let sizes: [Int] = (0..<5).flatMap { power in (4..<8).map { $0 << (power + 13) } } + [1 << 20]
    /// The most that is kept in all, in bytes.
    static let maximumKept = 16 << 20

    /// Pieces that nobody uses.
    ///
    /// @unchecked: a free piece of memory has no owner but this.
    @safe private struct Free: @unchecked Sendable {
        var pieces: [[UnsafeMutableRawPointer]] = unsafe Array(repeating: [], count: BufferMemory.sizes.count)
        var bytes = 0
    }

    private let free = Guarded(Free())

    /// What is kept, in bytes; for tests.
    var keptBytes: Int { free.withLock { $0.bytes } }

    /// The capacity of the piece for so many bytes; `nil` for what is left to the C library.
    package static func capacity(for bytes: Int) -> Int? {
        bytes > sizes[0] / 2 ? sizes.first { bytes <= $0 } : nil
    }

    /// A piece of a ``capacity(for:)``; `nil` when memory is short.
    package func take(_ capacity: Int) -> UnsafeMutableRawPointer? {
        let index = Self.index(of: capacity)
        let kept = free.withLock { free -> Piece in
            guard let piece = unsafe free.pieces[index].popLast() else { return unsafe Piece(start: nil) }
            free.bytes -= capacity
            return unsafe Piece(start: piece)
        }
        return unsafe kept.start ?? malloc(capacity)
    }

    /// Takes back a piece that ``take(_:)`` gave.
    package func give(_ piece: UnsafeMutableRawPointer, capacity: Int) {
        let index = Self.index(of: capacity)
        let given = unsafe Piece(start: piece)
        let isKept = free.withLock { free in
            guard free.bytes + capacity <= Self.maximumKept, let start = unsafe given.start else { return false }
            unsafe free.pieces[index].append(start)
            free.bytes += capacity
            return true
        }
        if !isKept { unsafe Self.release(piece) }
    }

    /// The first bytes of a piece of ``take(_:)``, which comes back here when the `Data` is dropped: at once if that
    /// leaves more than half of it unused.
    package func data(_ piece: UnsafeMutableRawPointer, count: Int, capacity: Int) -> Data {
        // A large piece is too good for a small rest.
        guard capacity <= 2 * count else {
            defer { unsafe give(piece, capacity: capacity) }
            return unsafe Data(bytes: piece, count: count)
        }
        return unsafe Data(
            bytesNoCopy: piece, count: count,
            deallocator: .custom { [self] piece, _ in unsafe give(piece, capacity: capacity) })
    }

    /// Gives what is kept back to the C library.
    package func drop() {
        let dropped = free.withLock { free in
            let pieces = unsafe free.pieces.joined().map { unsafe Piece(start: $0) }
            free = Free()
            return pieces
        }
        for piece in dropped { if let start = unsafe piece.start { unsafe Self.release(start) } }
    }

    /// On its way through the lock.
    ///
    /// @unchecked: whoever has it is the piece's only owner.
    @safe private struct Piece: @unchecked Sendable {
        let start: UnsafeMutableRawPointer?
    }

    /// free(3), apart from the property's name.
    private static func release(_ piece: UnsafeMutableRawPointer) {
        unsafe CLibrary.free(piece)
    }

    /// Any other capacity would hand out pieces that are smaller than they are taken for.
    private static func index(of capacity: Int) -> Int {
        guard let index = sizes.firstIndex(of: capacity) else {
            preconditionFailure("no piece has a capacity of \(capacity) bytes")
        }
        return index
    }
}
