package import FoundationEssentials

/// A piece of memory that a C library fills.
package enum WrittenPiece {
    /// Returns the bytes that `write` wrote, in memory from the pool.
    /// - Parameters:
    ///   - limit: The maximum number of bytes, in the range of ``BufferMemory/capacity(for:)``: above 16 KiB, up to
    ///     1 MiB.
    ///   - write: Writes at most as many bytes as the buffer has room for, and returns their number.
    package static func make(limit: Int, _ write: (UnsafeMutableRawBufferPointer) -> Int) throws -> Data {
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
