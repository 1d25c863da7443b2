import CLibrary
import FoundationEssentials
import NetworkCore
import Synchronization

/// A pool of memory for bodies, in pieces of 32 KiB to 1 MiB.
final class BufferMemory: Sendable {
    static let shared = BufferMemory()

    /// Sizes are powers of two and three steps between them, so that at most a fifth of a piece is unused; of the
    /// smallest, up to half.
    private static let sizes: [Int] = (0..<5).flatMap { power in (4..<8).map { $0 << (power + 13) } } + [1 << 20]
    /// The maximum size of all pieces that the pool keeps, in bytes.
    static let maximumKept = 16 << 20

    /// The pieces that are not in use.
    ///
    /// @unchecked: a free piece of memory has no other owner.
    @safe private struct Free: @unchecked Sendable {
        var pieces: [[UnsafeMutableRawPointer]] = unsafe Array(repeating: [], count: BufferMemory.sizes.count)
        var bytes = 0
    }

    private let free = Guarded(Free())

    /// The size of all pieces in the pool, in bytes; for tests.
    var keptBytes: Int { free.withLock { $0.bytes } }

    /// Returns the capacity of the piece for the given number of bytes, or `nil` for a size that is left to the C
    /// library: up to 16 KiB, or more than 1 MiB.
    static func capacity(for bytes: Int) -> Int? {
        bytes > sizes[0] / 2 ? sizes.first { bytes <= $0 } : nil
    }

    /// Returns a piece of a capacity that ``capacity(for:)`` returned, or `nil` if memory is short.
    func take(_ capacity: Int) -> UnsafeMutableRawPointer? {
        let index = Self.index(of: capacity)
        let kept = free.withLock { free -> Piece in
            guard let piece = unsafe free.pieces[index].popLast() else { return unsafe Piece(start: nil) }
            free.bytes -= capacity
            return unsafe Piece(start: piece)
        }
        return unsafe kept.start ?? malloc(capacity)
    }

    /// Returns a piece from ``take(_:)`` to the pool.
    func give(_ piece: UnsafeMutableRawPointer, capacity: Int) {
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

    /// Returns the first bytes of a piece from ``take(_:)`` as `Data`.
    func data(_ piece: UnsafeMutableRawPointer, count: Int, capacity: Int) -> Data {
        // A copy: a few bytes would keep a large piece out of the pool.
        guard capacity <= 2 * count else {
            defer { unsafe give(piece, capacity: capacity) }
            return unsafe Data(bytes: piece, count: count)
        }
        return unsafe Data(
            bytesNoCopy: piece, count: count,
            deallocator: .custom { [self] piece, _ in unsafe give(piece, capacity: capacity) })
    }

    /// Frees all pieces in the pool.
    func drop() {
        let dropped = free.withLock { free in
            let pieces = unsafe free.pieces.joined().map { unsafe Piece(start: $0) }
            free = Free()
            return pieces
        }
        for piece in dropped { if let start = unsafe piece.start { unsafe Self.release(start) } }
    }

    /// A piece on its way through the lock.
    ///
    /// @unchecked: the holder is the piece's only owner.
    @safe private struct Piece: @unchecked Sendable {
        let start: UnsafeMutableRawPointer?
    }

    /// Calls free(3), whose name the property hides.
    private static func release(_ piece: UnsafeMutableRawPointer) {
        unsafe CLibrary.free(piece)
    }

    /// Returns the place of a capacity in ``sizes``. Any other capacity would hand out pieces that are smaller than the
    /// caller assumes.
    private static func index(of capacity: Int) -> Int {
        guard let index = sizes.firstIndex(of: capacity) else {
            preconditionFailure("no piece has a capacity of \(capacity) bytes")
        }
        return index
    }
}

/// A piece of memory that a C library fills.
enum WrittenPiece {
    /// Returns the bytes that `write` wrote, in memory from the pool.
    static func make(limit: Int, _ write: (UnsafeMutableRawBufferPointer) -> Int) throws -> Data {
        guard let capacity = BufferMemory.capacity(for: limit) else {
            preconditionFailure("a piece of \(limit) bytes")
        }
        guard let memory = unsafe BufferMemory.shared.take(capacity) else {
            throw NetworkError.noMemoryForBody
        }
        let count = unsafe write(UnsafeMutableRawBufferPointer(start: memory, count: limit))
        return unsafe BufferMemory.shared.data(memory, count: count, capacity: capacity)
    }
}

extension NetworkError {
    /// The error for a body that is within the limit but does not fit into memory.
    static var noMemoryForBody: NetworkError {
        NetworkError(.bodyTooLarge, "there is not enough memory for the body", phase: .receiving)
    }
}
