import NetworkCore
import Synchronization

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// Memory for bodies of 32 KiB to 1 MiB, used again and again.
///
/// The C library gives memory of that size back to the kernel when a body is dropped, and the next body then faults in page
/// after page: that costs more than the transfer itself. What is kept here is bounded, and a piece in use belongs to its
/// `Data` alone.
final class BodyMemory: Sendable {
    static let shared = BodyMemory()

    /// Sizes are powers of two and three steps between them, so that at most a fifth of a piece is not used.
    private static let sizes: [Int] = (0..<5).flatMap { power in (4..<8).map { $0 << (power + 13) } } + [1 << 20]
    /// The most that is kept in all, in bytes.
    static let maximumKept = 8 << 20

    /// Pieces that nobody uses.
    ///
    /// @unchecked: a free piece of memory has no owner but this.
    private struct Free: @unchecked Sendable {
        var pieces: [[UnsafeMutableRawPointer]] = Array(repeating: [], count: BodyMemory.sizes.count)
        var bytes = 0
    }

    private let free = Guarded(Free())

    /// What is kept, in bytes; for tests.
    var keptBytes: Int { free.withLock { $0.bytes } }

    /// The capacity of the piece for so many bytes; `nil` for what is left to the C library.
    static func capacity(for bytes: Int) -> Int? {
        guard bytes > sizes[0] / 2, let index = index(for: bytes) else { return nil }
        return sizes[index]
    }

    /// A piece of a ``capacity(for:)``; `nil` when memory is short.
    func take(_ capacity: Int) -> UnsafeMutableRawPointer? {
        guard let index = Self.index(for: capacity) else { return nil }
        let kept = free.withLock { free -> Piece in
            guard let piece = free.pieces[index].popLast() else { return Piece(start: nil) }
            free.bytes -= capacity
            return Piece(start: piece)
        }
        return kept.start ?? malloc(capacity)
    }

    /// Takes back a piece that ``take(_:)`` gave.
    func give(_ piece: UnsafeMutableRawPointer, capacity: Int) {
        guard let index = Self.index(for: capacity) else { return }
        let given = Piece(start: piece)
        let isKept = free.withLock { free in
            guard free.bytes + capacity <= Self.maximumKept, let start = given.start else { return false }
            free.pieces[index].append(start)
            free.bytes += capacity
            return true
        }
        if !isKept { Self.release(piece) }
    }

    /// On its way through the lock.
    ///
    /// @unchecked: whoever has it is the piece's only owner.
    private struct Piece: @unchecked Sendable {
        let start: UnsafeMutableRawPointer?
    }

    /// free(3), apart from the property's name.
    private static func release(_ piece: UnsafeMutableRawPointer) {
        #if canImport(Glibc)
        Glibc.free(piece)
        #else
        Musl.free(piece)
        #endif
    }

    private static func index(for bytes: Int) -> Int? { sizes.firstIndex { bytes <= $0 } }
}
