#if canImport(FoundationEssentials)
package import FoundationEssentials
#else
package import Foundation
#endif

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// A piece of bytes that a C library writes.
package enum WrittenPiece {
    /// - Parameter write: Writes at most as many bytes as there is room for, and tells how many.
    package static func make(limit: Int, _ write: (UnsafeMutableRawBufferPointer) -> Int) throws -> Data {
        guard let memory = malloc(limit) else {
            throw NetworkError(.bodyTooLarge, "there is no memory for the body", phase: .receiving)
        }
        let count = write(UnsafeMutableRawBufferPointer(start: memory, count: limit))
        guard count > 0 else {
            free(memory)
            return Data()
        }
        let fitted = count < limit / 2 ? realloc(memory, count) ?? memory : memory
        return Data(bytesNoCopy: fitted, count: count, deallocator: .free)
    }
}
